import WeftDiagnostics
import WeftPlanning

/// A draft that is run before it is written.
///
/// In virtual time, engines take none: an engine that was killed may have started more there than its journal says.
struct TriedCase {
  private let draft: DraftTestFile
  private let plan: Plan
  private let path: String

  /// - Parameter path: The path of the test file.
  init(_ draft: DraftTestFile, of plan: Plan, at path: String) {
    (self.draft, self.plan, self.path) = (draft, plan, path)
  }

  /// Each lets one more step start too early.
  private static let mostTrials = 100

  /// Returns a draft whose case passes.
  ///
  /// - Throws: The first difference, if there is none.
  func passing() throws(RecordedCase.Obstacle) -> DraftTestFile {
    var draft = draft
    var difference: String?
    for _ in 0..<TriedCase.mostTrials {
      let file = LoadedTestFile(
        SourceFile(path: path, bytes: Array(draft.text.utf8)), at: path, of: plan)
      guard let result = file.firstResult else {
        difference = file.diagnostics.first?.message
        break
      }
      if result.mismatches.isEmpty { return draft }
      difference = result.mismatches.first?.message
      guard let early = result.record.unscripted.first,
        draft.ignoreStart(of: early.address, under: early.engine)
      else { break }
    }
    throw RecordedCase.Obstacle(
      sentence: "a case would not do what the run did: \(difference ?? "it has no end")")
  }
}
