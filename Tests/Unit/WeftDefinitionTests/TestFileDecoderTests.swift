import Testing
import WeftDiagnostics
import WeftReporting
import WeftTestKit

@testable import WeftDefinition

/// The files of `TestFileCases`; `.ci/validate-schema.py` checks that the schema agrees with them.
@Suite struct TestFileDecoderTests {
  static func cases(in folder: String) -> [String] {
    Golden.names(in: Golden("TestFileCases/" + folder).path).filter { $0.hasSuffix(".json") }
      .sorted()
  }

  private func decoded(_ name: String) throws -> (file: TestFile?, diagnostics: [Diagnostic]) {
    let bytes = try #require(Golden("TestFileCases/" + name).read())
    return TestFileDecoder.decode(SourceFile(path: name, bytes: bytes))
  }

  @Test(arguments: cases(in: "accepted"))
  func theFileIsAccepted(name: String) throws {
    let (file, diagnostics) = try decoded("accepted/" + name)
    #expect(diagnostics == [])
    let cases = try #require(file).cases
    #expect(!cases.isEmpty)
  }

  @Test(
    arguments: cases(in: "rejected").map { "rejected/" + $0 }
      + cases(in: "rejected-beyond-schema").map { "rejected-beyond-schema/" + $0 })
  func theMessageIsAsRecorded(name: String) throws {
    let diagnostics = try decoded(name).diagnostics
    let isRejected = diagnostics.contains(where: \.isError)
    #expect(isRejected)
    let text = DiagnosticText(usesColour: false).rendered(DiagnosticCollection(diagnostics))
    let mismatch = Golden("TestFileCases/\(name.dropLast(5)).txt").mismatch(with: text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  @Test func noTextBringsTheDecoderDown() {
    let files = ["accepted", "rejected", "rejected-beyond-schema"].flatMap { folder in
      TestFileDecoderTests.cases(in: folder).compactMap {
        Golden("TestFileCases/\(folder)/\($0)").read()
      }
    }
    let words = TestFile.format.rules + TestCase.format.rules + ScriptedResult.format.rules
    var fuzzer = Fuzzer(
      corpus: "TestFileCorpus", seeds: files,
      words: words.map { "\"\($0.name)\":" } + ["[{", "}]", "null", "1e9", "\"*\""])
    let report = fuzzer.run(making: 2_000) { bytes in
      let (_, diagnostics) = TestFileDecoder.decode(SourceFile(path: "f", bytes: bytes))
      // Every location is inside the text.
      for case let place? in diagnostics.map(\.place) {
        #expect(place.range.start <= place.range.end && Int(place.range.end) <= bytes.count)
      }
      return Set(diagnostics.map(\.code))
    }
    #expect(report.words.count > 15)
  }

  /// `UPDATE_GOLDEN=1` writes the file.
  @Test func theSchemaFileIsWhatTheTablesPrint() {
    let file = Golden("../../../schemas/test.schema.json")
    let mismatch = file.mismatch(with: TestFileSchema.text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }
}
