import TestSupport
import Testing
import WeftJSON
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Encodings of a secret by other programs, none of which may remain readable.
@Suite struct SecretFormsTests {
  private static func mask(_ secret: String) throws -> SecretMask {
    SecretMask([try Secret(Array(secret.utf8))])
  }

  private static let awkward = "pä/ss \"w\\ör+d\"\u{1F511}=~?&<b>#'\u{8}\u{1}:@!(x)*"

  // MARK: Lines

  @Test(
    "S06: each line of a secret is masked by itself",
    arguments: ["line one here", "line-two", "key: value of 3", "{\"a\": \"json-line\"}"])
  func eachLine(line: String) throws {
    let secret = "line one here\r\nline-two\n\n  key: value of 3\n}\n\t{\"a\": \"json-line\"}\n"
    let mask = try Self.mask(secret)
    #expect(mask.masked("<\(line)>") == "<***>")
    #expect(mask.masked(secret) == "***")
    // Text that every file contains is not secret.
    #expect(mask.masked("{\n}\n  }\n") == "{\n}\n  }\n")
  }

  @Test("S06: a secret in one line whose escapes are lines is masked when they have been done")
  func escapesDone() throws {
    let secret = #"{"type": "key", "key": "-----BEGIN\nMIIcanary\/x\nlast \"line\"", "a\\b": 1}"#
    let mask = try Self.mask(secret)
    #expect(mask.masked(secret) == "***")
    // The forms of dash's echo and of jq -r.
    let echoed =
      "{\"type\": \"key\", \"key\": \"-----BEGIN\nMIIcanary\\/x\nlast \\\"line\\\"\", \"a\\b\": 1}"
    #expect(mask.masked("<\(echoed)>") == "<***>")
    #expect(mask.masked("-----BEGIN\nMIIcanary/x\n") == "-----BEGIN\n***\n")
  }

  // MARK: Base64

  /// Base64 by its definition, bit by bit (RFC 4648 §4).
  private static func base64(_ bytes: [UInt8], _ last: String = "+/") -> [UInt8] {
    let digits = Array(
      ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
    let bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
    return stride(from: 0, to: bits.count, by: 6).map { start in
      digits[(0..<6).reduce(0) { $0 << 1 | Int(start + $1 < bits.count ? bits[start + $1] : 0) }]
    }
  }

  @Test(
    "S07: base64 of a secret anywhere in what is encoded, in either alphabet, keeps nothing of it",
    arguments: 0..<300 as Range<UInt64>)
  func base64IsMasked(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    func bytes(_ count: ClosedRange<Int>, upTo most: UInt8 = 255) -> [UInt8] {
      (0..<Int.random(in: count, using: &random)).map { _ in .random(in: 1...most, using: &random) }
    }
    let secret = bytes(5...(seed.isMultiple(of: 3) ? 700 : 60), upTo: 127)
    let (before, after) = (bytes(0...7), bytes(0...7))
    let mask = SecretMask([try Secret(secret)])
    let alphabet = seed.isMultiple(of: 2) ? "+/" : "-_"
    let text = Self.base64(before + secret + after, alphabet)
    // Exactly those digits whose bits all belong to the secret.
    let first = (before.count * 8 + 5) / 6
    let end = (before.count + secret.count) * 8 / 6
    let wanted = text[..<first] + Array("***".utf8) + text[end...]
    #expect(text.withUnsafeBytes(mask.masked) == Array(wanted))
  }

  @Test(
    "S07: base64 that is broken into lines is masked, too",
    arguments: [64, 76], ["\n", "\r\n"])
  func brokenBase64IsMasked(width: Int, newline: String) throws {
    var random = SeededGenerator(seed: UInt64(width))
    for beforeCount in 0..<80 {
      let secret = (0..<120).map { _ in UInt8.random(in: 1...127, using: &random) }
      let before = [UInt8](repeating: 7, count: beforeCount)
      let digits = Self.base64(before + secret + [7, 7, 7])
      let (first, end) = ((before.count * 8 + 5) / 6, (before.count + secret.count) * 8 / 6)
      var (text, wanted): ([UInt8], [UInt8]) = ([], [])
      for (index, digit) in digits.enumerated() {
        let isBreak = index > 0 && index.isMultiple(of: width)
        if isBreak { text += Array(newline.utf8) }
        text.append(digit)
        // A line break at the very edge of the secret remains.
        if isBreak, index <= first || index >= end { wanted += Array(newline.utf8) }
        if index == first { wanted += Array("***".utf8) }
        if index < first || index >= end { wanted.append(digit) }
      }
      let mask = SecretMask([try Secret(secret)])
      #expect(text.withUnsafeBytes(mask.masked) == wanted, "after \(beforeCount) bytes")
    }
  }

  // MARK: URL

  @Test(
    "S07: percent-encoded in all dialects",
    arguments: [
      // RFC 3986: curl --data-urlencode, jq @uri
      "p%C3%A4%2Fss%20%22w%5C%C3%B6r%2Bd%22%F0%9F%94%91%3D~%3F%26%3Cb%3E%23%27%08%01%3A%40%21%28x%29%2A",
      // Python's urllib.parse.quote
      "p%C3%A4/ss%20%22w%5C%C3%B6r%2Bd%22%F0%9F%94%91%3D~%3F%26%3Cb%3E%23%27%08%01%3A%40%21%28x%29%2A",
      // encodeURIComponent
      "p%C3%A4%2Fss%20%22w%5C%C3%B6r%2Bd%22%F0%9F%94%91%3D~%3F%26%3Cb%3E%23'%08%01%3A%40!(x)*",
      // encodeURI
      "p%C3%A4/ss%20%22w%5C%C3%B6r+d%22%F0%9F%94%91=~?&%3Cb%3E#'%08%01:@!(x)*",
      // application/x-www-form-urlencoded: URLSearchParams
      "p%C3%A4%2Fss+%22w%5C%C3%B6r%2Bd%22%F0%9F%94%91%3D%7E%3F%26%3Cb%3E%23%27%08%01%3A%40%21%28x%29*",
      // In lowercase: .NET
      "p%c3%a4%2fss+%22w%5c%c3%b6r%2bd%22%f0%9f%94%91%3d%7e%3f%26%3cb%3e%23%27%08%01%3a%40%21%28x%29*",
      // new URL().password
      "p%C3%A4%2Fss%20%22w%5C%C3%B6r+d%22%F0%9F%94%91%3D~%3F&%3Cb%3E%23'%08%01%3A%40!(x)*",
    ])
  func percentEncodingIsMasked(text: String) throws {
    #expect(
      try Self.mask(Self.awkward).masked("https://x/?q=\(text)&r=1") == "https://x/?q=***&r=1")
  }

  @Test func everyByteInPercentIsMasked() throws {
    #expect(try Self.mask("token").masked("%74%6f%6b%65%6e") == "***")
  }

  // MARK: JSON

  @Test(
    "S07: escaped in JSON strings in all dialects",
    arguments: [
      // JSON.stringify
      #"pä/ss \"w\\ör+d\"🔑=~?&<b>#'\b\u0001:@!(x)*"#,
      // Python's json.dumps, jq -a
      #"p\u00e4/ss \"w\\\u00f6r+d\"\ud83d\udd11=~?&<b>#'\b\u0001:@!(x)*"#,
      // PHP's json_encode
      #"p\u00e4\/ss \"w\\\u00f6r+d\"\ud83d\udd11=~?&<b>#'\b\u0001:@!(x)*"#,
      // Go's encoding/json
      #"pä/ss \"w\\ör+d\"🔑=~?\u0026\u003cb\u003e#'\u0008\u0001:@!(x)*"#,
      // Gson
      #"pä/ss \"w\\ör+d\"🔑\u003d~?\u0026\u003cb\u003e#\u0027\b\u0001:@!(x)*"#,
      // .NET's System.Text.Json
      #"p\u00E4/ss \"w\\\u00F6r+d\"\uD83D\uDD11=~?&<b>#'\b\u0001:@!(x)*"#,
      // JSON within JSON
      #"pä/ss \\\"w\\\\ör+d\\\"🔑=~?&<b>#'\\b\\u0001:@!(x)*"#,
    ])
  func jsonIsMasked(text: String) throws {
    #expect(try Self.mask(Self.awkward).masked("{\"key\":\"\(text)\"}") == "{\"key\":\"***\"}")
  }

  @Test func theEnginesOwnJSONIsMasked() throws {
    var writer = JSONWriter()
    writer.string(Self.awkward + "\u{7F}\nsecond line\t\u{1F}")
    let text = String(decoding: writer.bytes, as: UTF8.self)
    let mask = try Self.mask(Self.awkward + "\u{7F}\nsecond line\t\u{1F}")
    #expect(mask.masked(text) == "\"***\"")
  }

  // MARK: Shells and HTML

  @Test(
    "X38: quoted for shells, as set -x, printf %q, declare -p, shlex.quote and repr do it",
    arguments: [
      // bash, zsh; dash and Python; printf %q; declare -p
      #"it'\''s $1 "x" & \y"#, #"it'"'"'s $1 "x" & \y"#, #"it\'s\ \$1\ \"x\"\ \&\ \\y"#,
      #"it's \$1 \"x\" & \\y"#,
      // $'…', and repr
      #"it\'s $1 "x" & \\y"#, #"it's $1 "x" & \\y"#,
    ])
  func shellQuotingIsMasked(text: String) throws {
    #expect(try Self.mask(#"it's $1 "x" & \y"#).masked("+ echo '\(text)'") == "+ echo '***'")
  }

  @Test(
    "X38: control characters as shells and repr write them",
    arguments: [#"ein\tä\n\E[0m\001"#, #"ein\t\303\244\n\E[0m\001"#, #"ein\tä\n\x1b[0m\x01"#])
  func shellEscapesAreMasked(text: String) throws {
    #expect(try Self.mask("ein\tä\n\u{1B}[0m\u{1}").masked("$'\(text)'") == "$'***'")
  }

  @Test(
    "X38: escaped for HTML and XML",
    arguments: [
      "a&lt;b&gt; &quot;it&#39;s&quot; /&amp;", "a&lt;b&gt; &quot;it&#x27;s&quot; /&amp;",
      "a&lt;b&gt; &#34;it&#39;s&#34; /&amp;", "a&lt;b&gt; &quot;it&apos;s&quot; /&amp;",
      "a&lt;b&gt; \"it's\" /&amp;", "a&lt;b&gt; &quot;it&#039;s&quot; /&amp;",
      "a&lt;b&gt; &quot;it&#39;s&quot; &#x2F;&amp;",
    ])
  func htmlIsMasked(text: String) throws {
    #expect(try Self.mask("a<b> \"it's\" /&").masked("<p>\(text)</p>") == "<p>***</p>")
  }

  // MARK: Size

  private static func nodes(_ secret: [UInt8]) throws -> (nodes: Int, tails: Int) {
    let trie = PatternAutomaton([MaskedValue(try Secret(secret))]).trie
    return (trie.nodes.count, trie.tailBytes.count)
  }

  /// With `WEFT_LONG` the largest secret, which takes long to make without optimization.
  @Test("X18: a large secret takes memory in proportion, whatever stands in it")
  func largestSecret() throws {
    let share = isLong ? 1 : 8
    var random = SeededGenerator(seed: 18)
    let words = ["\"", "/", "\n", "'", "&", "key: ", "0123456789", "abcdef", "\\n", "ä", "<b>"]
    var text = ""
    while text.utf8.count < Secret.mostBytes / share - 16 {
      text += words.randomElement(using: &random)!
    }
    let (nodes, tails) = try Self.nodes(Array(text.utf8))
    // A node takes 24 bytes.
    #expect(nodes < 3_000_000 / share, "\(nodes) nodes")
    #expect(tails < (64 << 20) / share, "\(tails) bytes")
  }

  @Test("X18: of very many secrets the encodings of some are left out, and none of the secrets")
  func manySecrets() throws {
    var random = SeededGenerator(seed: 18)
    let values = (0..<20).map { _ in
      (0..<1000).map { _ in UInt8.random(in: 97...122, using: &random) }
    }
    var layers = MaskLayers(try values.map { try Secret($0) }, encodedBytes: 5000)
    let mask = layers.mask()
    let text = String(decoding: Array(values.joined(separator: [0x20])), as: UTF8.self)
    #expect(mask.masked(text) == values.map { _ in "***" }.joined(separator: " "))
    let encoded = values.map { $0.map { String($0, radix: 16) }.joined() }
    #expect(encoded.filter { mask.masked($0) == "***" }.count == 5)
    // This also holds for secrets that are added one by one.
    layers.add(try Secret(Array("another-secret".utf8)), isLiteralOnly: false)
    #expect(
      layers.mask().masked("another-secret YW5vdGhlci1zZWNyZXQ=") == "*** YW5vdGhlci1zZWNyZXQ=")
  }

  // MARK: Secrets that Weft itself changes

  @Test("the name of a host is reported in lower case")
  func lowerCaseIsMasked() throws {
    let mask = try Self.mask("Tenant-Secret")
    #expect(
      mask.masked("cannot resolve \"tenant-secret.invalid\"") == "cannot resolve \"***.invalid\"")
    #expect(mask.masked("TENANT-SECRET") == "TENANT-SECRET")
  }

  @Test(
    "messages quote the beginning of a long value",
    arguments: [
      ("it is \"correct horse…\"", "it is \"***…\""), ("corr…", "***…"), ("cor…", "cor…"),
      ("not this…, correct ho…, correct horse battery…", "not this…, ***…, ***…"),
      ("correct horse batt…eries", "***…eries"), ("correct horse", "correct horse"),
      ("Y29ycmVjdC…", "***…"), ("correct …correct horse battery", "***…***"), ("…", "…"),
    ])
  func aBeginningThatIsCutOffIsMasked(text: String, masked: String) throws {
    #expect(try Self.mask("correct horse battery").masked(text) == masked)
  }

  @Test func aSecretWithAnEllipsisIsMasked() throws {
    #expect(try Self.mask("to be…or not").masked("(to be…or not)") == "(***)")
  }

  // MARK: Hexadecimal digits, and parts

  @Test("S07: hexadecimal digits in either case")
  func hexIsMasked() throws {
    let mask = try Self.mask("hunter-2")
    #expect(mask.masked("68756e7465722d32 68756E7465722D32") == "*** ***")
    #expect(try Self.mask("hunter2").masked("68756e74657232") == "68756e74657232")
  }

  @Test("a long secret is masked as a whole and in part", arguments: 0..<20 as Range<UInt64>)
  func longSecretsAreMasked(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let letters = Array("abcdefghijklmnopqrstuvwxyzäöü€🔑\"\\/+")
    let secret = String(
      (0..<Int.random(in: 200...2000, using: &random)).map { _ in
        letters.randomElement(using: &random)!
      })
    let mask = try Self.mask(secret)
    #expect(mask.masked("<\(secret)>") == "<***>")
    var writer = JSONWriter()
    writer.string(secret)
    #expect(mask.masked(String(decoding: writer.bytes, as: UTF8.self)) == "\"***\"")
    // No form is longer than the worst encoding of a part, so that little text is ever held.
    let longest = SecretForms.all(of: Array(secret.utf8)).map(\.count).max()!
    #expect(longest <= (SecretForms.partBytes + 10) * 6)
  }
}
