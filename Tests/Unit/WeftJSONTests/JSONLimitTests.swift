import TestSupport
import Testing
import WeftDiagnostics

@testable import WeftJSON

struct JSONLimitTests {
  @Test("W07: very many brackets are rejected at the 257th", arguments: ["[", "{\"a\":"])
  func veryManyBracketsAreRejectedAtTheFirstTooMany(opening: String) throws {
    let text = String(repeating: opening, count: 10 * largeCount)
    let (root, diagnostics) = JSONReader.read(file(text))
    #expect(root == nil)
    #expect(diagnostics.count == 1)
    let reported = try #require(diagnostics.first)
    #expect(reported.message == "arrays and objects are nested more than 256 deep")
    let start = 256 * opening.utf8.count
    #expect(reported.place?.range == SourceRange(start: start, end: start + 1))
  }

  @Test func theDeepestNestingAllowedIsRead() throws {
    let text = String(repeating: "[", count: 256) + String(repeating: "]", count: 256)
    #expect(try root(of: text).document.nodeCount == 256)
  }

  @Test func nestingCountsOpenContainersOnly() throws {
    let text = "[" + String(repeating: "[[]],", count: 1000) + "[]]"
    let limits = JSONLimits(depth: 3)
    #expect(JSONReader.read(file(text), limits: limits).diagnostics.isEmpty)
  }

  @Test("W08: a text over the limit is not looked at")
  func aTextOverTheLimitIsRejected() throws {
    let text = file([UInt8](repeating: 0x20, count: 64 << 20) + [0x31])
    let (root, diagnostics) = JSONReader.read(text)
    #expect(root == nil)
    #expect(
      diagnostics.map(\.message) == [
        "the text has 67108865 bytes, more than the limit of 64 MiB"
      ])
    let small = JSONLimits(bytes: 3)
    #expect(JSONReader.read(file("[1]"), limits: small).root != nil)
    #expect(JSONReader.read(file("[1] "), limits: small).diagnostics.map(\.code) == ["W0002"])
  }

  @Test func veryManyKeysAreComparedInNoTime() {
    let members = (0..<largeCount).map { "\"key\($0)\":\($0)" }
    let (_, once) = JSONReader.read(file("{" + members.joined(separator: ",") + "}"))
    #expect(once.isEmpty)
    let (_, twice) = JSONReader.read(
      file("{" + (members + members.suffix(2)).joined(separator: ",") + "}"))
    #expect(
      twice.map(\.message) == [
        #"the key "key\#(largeCount - 2)" is repeated"#,
        #"the key "key\#(largeCount - 1)" is repeated"#,
      ])
  }
}
