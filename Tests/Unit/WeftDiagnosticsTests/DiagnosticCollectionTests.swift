import Testing
import WeftDiagnostics
import WeftReporting

struct DiagnosticCollectionTests {
  private static let file = SourceFile(path: "a.json", bytes: [UInt8](repeating: 0x20, count: 100))
  private static let other = SourceFile(path: "b.json", bytes: [UInt8](repeating: 0x20, count: 100))

  private func diagnostic(
    at start: Int?, _ severity: Diagnostic.Severity = .error, in file: SourceFile = file,
    _ message: String = "wrong"
  ) -> Diagnostic {
    Diagnostic(
      severity, code: "W0001", message: message,
      place: start.map {
        Diagnostic.Place(file: file, range: SourceRange(start: $0, end: $0 + 1))
      })
  }

  @Test func diagnosticsAreSortedByPlaceWithinTheirFiles() {
    let sorted = [
      diagnostic(at: 5, in: Self.other), diagnostic(at: 9), diagnostic(at: nil),
      diagnostic(at: 3, in: Self.other), diagnostic(at: 1),
    ].sortedByLocation()
    #expect(sorted.map { $0.place?.file.path } == [nil, "b.json", "b.json", "a.json", "a.json"])
    #expect(sorted.map { $0.place?.range.start } == [nil, 3, 5, 1, 9])
  }

  @Test func diagnosticsAtOneLocationKeepTheirOrder() {
    let messages = ["c", "a", "b"]
    let sorted = messages.map { diagnostic(at: 4, in: Self.file, $0) }.sortedByLocation()
    #expect(sorted.map(\.message) == messages)
  }

  @Test func theSameIsSaidOnce() {
    let collection = DiagnosticCollection([
      diagnostic(at: 1), diagnostic(at: 2), diagnostic(at: 1),
      diagnostic(at: 1, .error, in: Self.other),
      diagnostic(at: nil), diagnostic(at: nil),
    ])
    #expect(collection.shown.count == 4)
    #expect(collection.errorCount == 4)
    #expect(collection.remark == nil)
  }

  @Test("W12, W22: the first 20 by place, and the count")
  func theFirstTwentyAreShownAndTheRestCounted() {
    let collection = DiagnosticCollection((0..<50).reversed().map { diagnostic(at: $0) })
    #expect(collection.shown.map { $0.place?.range.start } == (0..<20).map { UInt32($0) })
    #expect(collection.hiddenCount == 30)
    #expect(collection.remark == "… and 30 more")
    #expect(DiagnosticText().rendered(collection).hasSuffix("… and 30 more\n"))
  }

  @Test func errorsAreShownBeforeWarningsAndNotes() {
    let notes = (0..<30).map { diagnostic(at: $0, .note) }
    let warnings = (30..<40).map { diagnostic(at: $0, .warning) }
    let errors = (40..<45).map { diagnostic(at: $0) }
    let collection = DiagnosticCollection(notes + warnings + errors)
    #expect(collection.shown.count { $0.severity == .error } == 5)
    #expect(collection.shown.count { $0.severity == .warning } == 10)
    #expect(collection.shown.count { $0.severity == .note } == 5)
    #expect(
      collection.shown.map { $0.place?.range.start }
        == collection.shown.map { $0.place?.range.start }.sorted { $0 ?? 0 < $1 ?? 0 })
    #expect(collection.errorCount == 5 && collection.warningCount == 10)
  }

  @Test func aLimitCanBeGiven() {
    let all = (0..<50).map { diagnostic(at: $0) }
    #expect(DiagnosticCollection(all, limit: 3).shown.count == 3)
    #expect(DiagnosticCollection(all, limit: 0).remark == "… and 50 more")
    #expect(DiagnosticCollection(all, limit: .max).hiddenCount == 0)
    #expect(DiagnosticCollection([]).shown.isEmpty)
  }
}
