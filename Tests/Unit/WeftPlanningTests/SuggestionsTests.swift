import Testing
import WeftDiagnostics

@testable import WeftPlanning

/// The nearest names for a large number of misspellings.
@Suite struct SuggestionsTests {
  @Test func namesAreAskedForOnce() {
    var asked = 0
    var suggestions = Suggestions {
      asked += 1
      return ["build", "test"]
    }
    #expect(asked == 0)
    for _ in 0..<3 { #expect(suggestions.nearest(to: "biuld") == "build") }
    #expect(asked == 1)
  }

  @Test func asManyAreAnsweredAsWereAskedFor() {
    var suggestions = Suggestions(answering: 2) { ["build", "test"] }
    let answers = (0..<3).map { _ in suggestions.nearest(to: "biuld") }
    #expect(answers == ["build", "build", nil])
  }

  /// Every diagnostic shown gets a suggestion; the total work is bounded.
  @Test(arguments: [(names: 10, answers: 3_000), (names: 50_000, answers: 40)])
  func manyNamesAnswerFewMistakes(names: Int, answers: Int) {
    var suggestions = Suggestions { (0..<names).map { "step\($0)x" } }
    let answered = (0..<3_000).count { _ in suggestions.nearest(to: "step1y") != nil }
    #expect(answered == answers)
    #expect(answers >= DiagnosticCollection.defaultLimit)
  }
}
