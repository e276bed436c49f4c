import Testing
import WeftDiagnostics
import WeftTestKit

@testable import WeftJSON

/// Properties of the formatter, for random texts with comments everywhere.
struct JSONFormatterPropertyTests {
  /// A value with the bytes of each of its scalars and keys, in order.
  private struct Content: Equatable {
    var value: JSONValue
    var texts: [String]

    init(_ text: [UInt8], _ path: String) throws {
      let (root, diagnostics) = JSONReader.read(
        SourceFile(path: path, bytes: text), beside: nil)
      guard let root, diagnostics.isEmpty else { throw NotJSON(diagnostics: diagnostics) }
      value = JSONValue(root)
      texts = (0..<root.document.nodeCount).map {
        JSONNode(document: root.document, index: $0)
      }.filter { $0.kind != .array && $0.kind != .object }.map(\.sourceText)
    }
  }

  private static func format(_ text: [UInt8], _ path: String) throws -> [UInt8] {
    let (result, errors) = JSONFormatter.format(SourceFile(path: path, bytes: text))
    guard let result else { throw NotJSON(diagnostics: errors) }
    return result
  }

  @Test(arguments: 0..<400 as Range<UInt64>)
  func onlyWhiteSpaceChanges(seed: UInt64) throws {
    var sample = CommentedSample(seed: seed)
    let text = Array(sample.text().utf8)
    let once = try Self.format(text, "a.jsonc")
    let result = String(decoding: once, as: UTF8.self)
    #expect(try Content(once, "a.jsonc") == Content(text, "a.jsonc"))
    #expect(try Self.format(once, "a.jsonc") == once, "\(result)")
    // Each comment has a number.
    var rest = result[...]
    for comment in sample.comments {
      let found = try #require(rest.firstRange(of: comment), "\(comment) in \(result)")
      rest = rest[found.upperBound...]
    }
    #expect(result.matches(of: /№/).count == sample.comments.count)
    let lines = result.split(separator: /\r?\n/, omittingEmptySubsequences: false)
    #expect(lines.allSatisfy { $0.last != " " && !$0.contains("\t") }, "\(result)")
    #expect(!result.contains("\n\n\n") && !result.contains("\n\r\n\r\n"), "\(result)")
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func strictTextsStayStrict(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = Array(JSONSample.text(depth: 5, using: &random).utf8)
    let once = try Self.format(text, "a.json")
    #expect(try Content(once, "a.json") == Content(text, "a.json"))
    #expect(try Self.format(once, "a.json") == once)
  }

  /// Whatever a container was like before, its lines are no wider than they have to be.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func aWideLineHoldsOneItem(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let text = Array(JSONSample.text(depth: 5, using: &random).utf8)
    let result = String(decoding: try Self.format(text, "a.json"), as: UTF8.self)
    for line in result.split(whereSeparator: \.isNewline)
    where line.unicodeScalars.count > JSONFormatter.width {
      let item = line.drop { $0 == " " }
      #expect(item.hasPrefix("\"") && !item.hasSuffix("]") && !item.hasSuffix("}"), "\(line)")
    }
  }
}

/// A random text as ``JSONSample`` makes it, with comments between all tokens, and trailing commas.
private struct CommentedSample {
  private var random: SeededGenerator
  /// The comments so far, without white space at their ends.
  private(set) var comments: [String] = []
  private let lineEnd: String

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    lineEnd = seed % 4 == 0 ? "\r\n" : "\n"
  }

  mutating func text() -> String { space() + value(4) + space() }

  private mutating func value(_ depth: Int) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 4), using: &random) {
    case 0: ["null", "-1.50e+3", "12", "false"].randomElement(using: &random) ?? ""
    case 1...3: string()
    case 4, 5: "[" + list(depth) { $0.value($1) } + "]"
    default: "{" + list(depth) { $0.string() + $0.space() + ":" + $0.space() + $0.value($1) } + "}"
    }
  }

  private mutating func list(
    _ depth: Int, _ item: (inout CommentedSample, Int) -> String
  ) -> String {
    var text = space()
    let count = Int.random(in: 0...4, using: &random)
    for index in 0..<count {
      text += item(&self, depth - 1) + space()
      if index < count - 1 || Bool.random(using: &random) { text += "," + space() }
    }
    return text
  }

  private mutating func string() -> String {
    let length = Int.random(in: 0...30, using: &random)
    let piece =
      ["a", "é", "/*", "\\\"", "\\u00e9", "//", "{", ","].randomElement(using: &random) ?? ""
    return "\"" + String(repeating: piece, count: length / piece.count) + "\""
  }

  private mutating func space() -> String {
    let count = max(0, Int.random(in: -2...3, using: &random))
    return (0..<count).map { _ in blank() }.joined()
  }

  private mutating func blank() -> String {
    let number = comments.count
    switch Int.random(in: 0..<12, using: &random) {
    case 0..<4: return " "
    case 4..<7: return lineEnd + "  "
    case 7: return lineEnd + lineEnd + lineEnd
    case 8:
      comments.append("// №\(number);")
      return "// №\(number); " + lineEnd
    case 9, 10:
      comments.append("/* №\(number); */")
      return "/* №\(number); */"
    default:
      comments.append("/* №\(number);")
      return "/* №\(number);" + lineEnd + "    * more" + lineEnd + " */"
    }
  }
}
