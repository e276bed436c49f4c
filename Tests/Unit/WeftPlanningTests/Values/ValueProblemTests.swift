import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftReporting
import WeftTestKit

/// `Golden/values/<case>/workflow.json`, and its diagnostics with location, caret and help.
struct ValueProblemTests {
  static let cases = [
    "syntax", "names", "nothing-declared", "where", "escapes", "secrets", "cycle-later-member",
    "cycle-two-references", "cycle-membership", "cycle-group-end", "cycle-needs-and-references",
    "cycle-two", "cycle-not-told", "inside-out", "members", "env-layers", "warnings", "types",
    "scripts", "code-by-variables", "outputs-without-value", "nothing-to-read", "without-text",
    "programs",
    "accepted",
  ]

  @Test(
    "S02, S04: what is wrong with expressions is told with its place and the cure", arguments: cases
  )
  func isToldAsRecorded(name: String) throws {
    let folder = "Golden/values/\(name)"
    let path = Golden("../\(folder)/workflow.json").path
    let file = SourceFile(path: "workflow.json", bytes: try #require(contents(of: path), "\(path)"))
    let (workflow, unreadable) = WorkflowDecoder.decode(file)
    #expect(unreadable.map(\.message) == [])
    let (plan, diagnostics) = Planner.plan(try #require(workflow))
    #expect((plan == nil) == diagnostics.contains(where: \.isError))
    let text = diagnostics.map { DiagnosticText().rendered($0) + "\n" }.joined()
    let mismatch = Golden("../\(folder)/diagnostics.txt").mismatch(with: text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }
}
