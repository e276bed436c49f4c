import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftReporting
import WeftTestKit

/// `Golden/control/<case>/workflow.json`, and its diagnostics with location, caret and help.
struct ControlProblemTests {
  static let cases = [
    "loops-outside", "loop-types", "loop-secrets", "results", "skipped", "conditions", "pools",
    "rates",
    "groups", "afterwards", "accepted",
  ]

  @Test("what is wrong with control is told with its place and the cure", arguments: cases)
  func isToldAsRecorded(name: String) throws {
    let folder = "Golden/control/\(name)"
    let path = Golden("../\(folder)/workflow.json").path
    let file = SourceFile(path: "workflow.json", bytes: try #require(contents(of: path), "\(path)"))
    let (workflow, unreadable) = WorkflowDecoder.decode(file)
    #expect(unreadable.map(\.message) == [])
    let (plan, diagnostics) = Planner.plan(try #require(workflow))
    #expect((plan == nil) == diagnostics.contains(where: \.isError))
    #expect(name != "accepted" || diagnostics.isEmpty)
    let text = diagnostics.map { DiagnosticText().rendered($0) + "\n" }.joined()
    let mismatch = Golden("../\(folder)/diagnostics.txt").mismatch(with: text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }
}
