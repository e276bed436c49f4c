import Glibc
import TestSupport
import Testing
import WeftEncoding
import WeftPlatform
import WeftTestKit

@testable import WeftCaching

/// Cache entries as anyone with the folder's secret could have written them.
struct CacheEntryFuzzTests {
  private static let code = HMAC(key: [1, 2, 3])
  private static let hash = SHA256.text(of: SHA256.digest(of: Array("content".utf8)))

  private static var entry: CacheEntry {
    var key = CacheKey.sample("1")
    key.set(.env, [CacheValue("CC", .unset), CacheValue("S", .secret(code: "ab"))])
    var entry = CacheEntry(key, outputs: ["out", "one.txt"])
    entry.files = [
      FileRecord(path: "out", .directory, permissions: 0o755),
      FileRecord(
        path: "out/a", .file(hash: hash, isExecutable: false), size: 7, permissions: 0o644),
      FileRecord(path: "out/l", .link("../x", hash: nil)),
      FileRecord(
        path: "one.txt", .file(hash: hash, isExecutable: true), size: 7, permissions: 0o755),
    ]
    entry.foreign = [
      FileRecord(
        path: "out/mine", .file(hash: hash, isExecutable: false), size: 7, permissions: 0o600)
    ]
    return entry
  }

  private static func sealed(_ text: [UInt8]) -> [UInt8] {
    let digest = code.digest(of: Array("weft cache entry\n".utf8) + text)
    return Array((SHA256.text(of: digest) + "\n").utf8) + text
  }

  private static func text(of entry: CacheEntry) -> String {
    let bytes = entry.bytes(
      CacheEntry.ObjectReferences(
        inputs: hash, stdout: hash, stderr: nil,
        log: CacheEntry.ObjectReferences.Log(hash: hash, stretches: [1, 2], isWhole: true)), code)
    return String(decoding: bytes.split(separator: 0x0A, maxSplits: 1)[1], as: UTF8.self)
  }

  @Test("X15: an entry reads back as it was, and one without the code of the folder does not")
  func entryWithoutTheCodeOfItsFolderIsRefused() throws {
    let bytes = CacheEntryFuzzTests.entry.bytes(
      CacheEntry.ObjectReferences(), CacheEntryFuzzTests.code)
    #expect(CacheEntry.read(bytes, CacheEntryFuzzTests.code)?.entry == CacheEntryFuzzTests.entry)
    #expect(CacheEntry.read(bytes, HMAC(key: [1, 2, 4])) == nil)
    let text = bytes.split(separator: 0x0A, maxSplits: 1)[1]
    let unkeyed = Array((SHA256.text(of: SHA256.digest(of: text)) + "\n").utf8) + text
    #expect(CacheEntry.read(unkeyed, CacheEntryFuzzTests.code) == nil)
  }

  @Test("X75: a log is kept by its streams, up to a limit and by whole lines")
  func storedLogKeepsStreamsWithinALimit() {
    var log = CachedLog()
    log.append(Array("e\n".utf8), isError: true)
    for line in ["a\n", "b\n"] { log.append(Array(line.utf8), isError: false) }
    #expect(log.stretches == [0, 2, 4] && log.isWhole)
    #expect(log.parts.map(\.isError) == [false, true, false])
    #expect(log.parts.map { String(decoding: $0.bytes, as: UTF8.self) } == ["", "e\n", "a\nb\n"])
    log.append(Array(repeating: UInt8(ascii: "x"), count: CachedLog.limit - 8), isError: false)
    log.append(Array("y\nlonger\n".utf8), isError: false)
    #expect(!log.isWhole && log.bytes.count == CachedLog.limit && log.bytes.last == 0x0A)
    log.append(Array("z\n".utf8), isError: false)
    #expect(log.bytes.count == CachedLog.limit)
    for stretches in [[], [3], [1, 1, 1, 1], [-1, 3], [.max, .max]] {
      #expect(CachedLog([0, 0], stretches: stretches, isWhole: true) == nil)
    }
    #expect(CachedLog([0, 0], stretches: [1, 1], isWhole: true)?.parts.count == 2)
  }

  @Test(
    "X15: paths that lead elsewhere, hashes that are none, numbers out of range and repeated names are refused",
    arguments: [
      ("\"out/a\"", "\"out/../../pwned\""), ("\"out/a\"", "\"/etc/passwd\""),
      ("\"out/a\"", "\"out//a\""), ("\"out/a\"", "\"out/./a\""), ("\"out/a\"", "\"out/a/\""),
      ("\"out/a\"", "\"\""), ("\"out/a\"", "\"outer/a\""), ("\"out/a\"", "\"out/missing/a\""),
      ("\"out/a\"", "\"out/l/a\""), ("\"out/a\"", "\"out/l\""), ("\"out/a\"", "\"out/a\\u0000\""),
      ("\"out/a\"", "\"out/.weft-staged-1/a\""), ("\"out/a\"", "\"../pwned\""),
      ("\"outputs\":[\"out\"", "\"outputs\":[\"..\""),
      ("\"outputs\":[\"out\"", "\"outputs\":[\"/\""),
      ("[\"file\",\"", "[\"file\",\"../../"), ("[\"file\",\"", "[\"text\",\""),
      ("\"stdout\":\"", "\"stdout\":\"ab/../"), ("\"inputs\":\"", "\"inputs\":\"../"),
      (",7,420]", ",-1,420]"), (",7,420]", ",9223372036854775807,420]"), (",7,420]", ",7,2541]"),
      (",7,420]", ",7,-1]"), (",7,420]", ",7]"),
      ("\"storedAt\":1", "\"storedAt\":-1"), ("\"storedAt\":1", "\"storedAt\":9223372036854775807"),
      ("\"milliseconds\":5", "\"milliseconds\":-5"),
      ("\"milliseconds\":5", "\"milliseconds\":9223372036854775807"),
      ("[\"S\",[\"secret\"", "[\"CC\",[\"secret\""),
      ("\"format\":2", "\"format\":1"), ("\"format\":2", "\"format\":3"),
    ])
  func entryWithForeignPathsOrBadNumbersIsRefused(old: String, new: String) throws {
    let text = CacheEntryFuzzTests.text(of: CacheEntryFuzzTests.entry)
    let range = try #require(text.firstRange(of: old))
    #expect(
      CacheEntry.read(CacheEntryFuzzTests.sealed(Array(text.utf8)), CacheEntryFuzzTests.code) != nil
    )
    let forged = text[..<range.lowerBound] + new + text[range.upperBound...]
    #expect(
      CacheEntry.read(
        CacheEntryFuzzTests.sealed(Array(forged.utf8)), CacheEntryFuzzTests.code) == nil)
  }

  @Test("X15: no entry, its code made to fit, brings the reader down or leads out of its outputs")
  func mutatedEntryNeverCrashesTheReader() throws {
    let scratch = Scratch()
    let cache = try scratch.cache()
    scratch.write("inside/here", "content")
    let reader = WorkspaceReader(
      try Directory(scratch.path + "/inside"), memory: FileMemory(now: Scratch.later))
    let seed = Array(CacheEntryFuzzTests.text(of: CacheEntryFuzzTests.entry).utf8)
    let words = [
      "\"", "[", "]", "{", "}", ",", ":", "null", "../", "/", "./", "..", "//", "out", "out/", "-1",
      "[\"S\",[\"unset\"]],",
      "0", "1", "2147483648", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
      "[\"directory\"]", "[\"link\",\"..\"]", "\"out/a\"", "\"files\":", "\"foreign\":",
      "\"outputs\":", "\\u0000", "420", "1e999",
    ]
    var fuzzer = Fuzzer(corpus: "Corpus", seeds: [seed], words: words)
    let report = fuzzer.run(making: isLong ? 3_000 : 600) { text in
      let sealed = CacheEntryFuzzTests.sealed(text)
      guard let (entry, _) = CacheEntry.read(sealed, CacheEntryFuzzTests.code) else {
        return ["refused"]
      }
      _ = entry.storedAt * 1_000_000
      _ = entry.files.reduce(0) { $0 + $1.size }
      let names = (entry.files + entry.foreign).map(\.names)
      for path in names {
        #expect(!path.contains("..") && !path.contains(".") && !path.isEmpty)
        #expect(
          entry.outputs.contains { path.starts(with: FileRecord(path: $0, .directory).names) })
      }
      if entry != CacheEntryFuzzTests.entry { _ = try? cache.restore(entry, to: reader) }
      return ["read \(entry.files.count)", "foreign \(entry.foreign.count)"]
    }
    // All restored files are in the workspace.
    let outside = try scratch.reader().tree(at: ["inside"]).map(\.path)
    #expect(try scratch.reader().workspace.stamp(of: ["out"]) == nil)
    #expect(try scratch.reader().workspace.stamp(of: ["pwned"]) == nil)
    #expect(outside.contains("inside/here"))
    print("\(report.examined) entries, \(report.words.sorted())")
    #expect(report.words.isSuperset(of: ["refused", "read 4", "foreign 1"]))
  }
}
