import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftTestKit

/// Errors of steps that run other files, and of those files: reported once, at the location in the file.
@Suite struct NestingProblemTests {
  /// The diagnostics, each as `file:line code message`.
  private static func found(_ main: String, _ others: [String: String] = [:]) throws -> [String] {
    let files = WorkflowFiles(others.merging(["main.json": main]) { $1 })
    let (plan, diagnostics) = Planner.plan(try files.workflow("main.json"))
    #expect((plan == nil) == diagnostics.contains(where: \.isError))
    return diagnostics.map { diagnostic in
      let place = diagnostic.place.map { place in
        "\(place.file.path):\(place.file.position(of: Int(place.range.start)).line) "
      }
      return "\(place ?? "")\(diagnostic.code) \(diagnostic.message)"
    }
  }

  private static let child = """
    {"inputs": {"name": {"type": "string"}, "count": {"type": "integer", "default": 1}},
     "outputs": {"n": {"value": "${{ steps.x.stdout }}", "type": "string"}},
     "steps": [{"id": "x", "run": "x"}]}
    """

  @Test(arguments: [
    (
      #"{"name": "n", "cuont": 1}"#,
      "main.json:1 W0221 \"c.json\" has no input \"cuont\""
    ),
    ("{}", "main.json:1 W0222 \"c.json\" requires input \"name\", not given here"),
    (
      #"{"name": "n", "count": "three"}"#,
      "main.json:1 W0223 with.count is \"three\", expected a whole number"
    ),
    (
      #"{"name": "n", "count": "${{ 'three' }}"}"#,
      "main.json:1 W0321 with.count is given a string, expected a whole number"
    ),
    (
      #"{"name": "${{ secrets.S }}"}"#,
      "main.json:1 W0318 a secret is passed to input \"name\", which is not declared secret"
    ),
  ])
  func givenInputsMustBeDeclaredAndValid(with: String, message: String) throws {
    let found = try Self.found(
      #"{"secrets": {"S": {"env": "S"}}, "steps": [{"workflow": "c.json", "with": "#
        + with + "}]}", ["c.json": Self.child])
    #expect(found == [message])
  }

  @Test func unreadNestedFileIsReported() {
    let step = Step(id: "c", action: .workflow(NestedWorkflow(path: "c.json")))
    let workflow = Workflow(steps: [step])
    #expect(
      problems(of: workflow) == [
        "W0220 step \"c\" runs the file \"c.json\", which has not been read"
      ])
  }

  @Test func problemsOfANestedFileAreReportedThereOnce() throws {
    let found = try Self.found(
      #"{"parallel": [{"id": "a", "workflow": "c.json"}, {"id": "b", "workflow": "c.json"}]}"#,
      [
        "c.json": """
        {"parallel": [
          {"id": "x", "needs": ["y"], "run": "x"},
          {"id": "y", "needs": ["x"], "run": ["y", "${{ steps.z.stdout }}"]},
          {"id": "w", "needs": ["nothing"], "run": "w"}]}
        """
      ])
    #expect(
      found == [
        "c.json:2 W0206 steps wait for each other: x → y → x",
        "c.json:3 W0311 the expression reads step \"z\", which is not a step of this workflow",
        "c.json:4 W0203 step \"w\" needs \"nothing\", which is not a step of this workflow",
      ])
  }

  @Test func outputsAreThoseOfTheOtherFile() throws {
    let main = { (reference: String) in
      #"{"steps": [{"id": "c", "workflow": "c.json", "with": {"name": "n"}}, {"run": ["z", "${{ "#
        + reference + #" }}"]}]}"#
    }
    #expect(try Self.found(main("steps.c.outputs.n"), ["c.json": Self.child]) == [])
    #expect(try Self.found(main("steps.c.outcome"), ["c.json": Self.child]) == [])
    let unknown = try Self.found(main("steps.c.outputs.m"), ["c.json": Self.child])
    #expect(unknown.map { $0.split(separator: " ")[1] } == ["W0313"])
    let member = try Self.found(main("steps.c.steps.x.stdout"), ["c.json": Self.child])
    #expect(member.map { $0.split(separator: " ")[1] } == ["W0312"])
    let wrong = try Self.found(main("steps.c.outputs.n.x"), ["c.json": Self.child])
    #expect(wrong.count == 1)
  }

  @Test func nestedFileSeesNoOuterNames() throws {
    let found = try Self.found(
      """
      {"inputs": {"i": {"type": "string", "default": ""}}, "env": {"V": "v"},
       "secrets": {"S": {"env": "S"}},
       "steps": [{"id": "a", "run": "a"},
         {"forEach": {"in": [1], "as": "e"}, "workflow": "c.json"}]}
      """,
      [
        "c.json": """
        {"steps": [{"run": ["x",
          "${{ inputs.i }}",
          "${{ env.V }}",
          "${{ steps.a.stdout }}",
          "${{ item }}",
          "${{ e }}"],
          "env": {"S": "${{ secrets.S }}"}}]}
        """
      ])
    #expect(
      found.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
        "c.json:2 W0314", "c.json:3 W0315", "c.json:4 W0311", "c.json:5 W0327", "c.json:6 W0327",
        "c.json:7 W0316",
      ])
  }

  @Test func cycleThroughANestedFileIsReportedInTheOuterOne() throws {
    let found = try Self.found(
      """
      {"parallel": [
        {"id": "a", "needs": ["c"], "run": "a"},
        {"id": "c", "needs": ["a"], "workflow": "c.json", "with": {"name": "n"}}]}
      """, ["c.json": Self.child])
    #expect(found == ["main.json:2 W0206 steps wait for each other: a → c → a"])
  }

  @Test func aRequestIsHeldAgainstTheSmallestPool() throws {
    let found = try Self.found(
      """
      {"pools": {"db": 1},
       "steps": [{"workflow": "c.json"}]}
      """, ["c.json": #"{"pools": {"db": 3}, "steps": [{"run": "x", "pool": {"db": 2}}]}"#])
    #expect(found == ["c.json:1 W0216 step \"1\" uses 2 slots of pool \"db\", which has 1"])
  }

  @Test func eachFileDeclaresThePoolsItsStepsTake() throws {
    let found = try Self.found(
      #"{"pools": {"db": 1}, "steps": [{"run": "a", "pool": "db"}, {"workflow": "c.json"}]}"#,
      ["c.json": #"{"steps": [{"run": "x", "pool": "db"}]}"#])
    #expect(found.map { $0.split(separator: " ")[1] } == ["W0215"])
  }

  @Test func staticInputCannotBeComputedLate() throws {
    let child = """
      {"inputs": {"limit": {"type": "integer"}}, "maxParallel": "${{ inputs.limit }}",
       "steps": [{"name": "of ${{ inputs.limit }}", "run": "x"}]}
      """
    let main = { (value: String) in
      #"{"inputs": {"l": {"type": "integer", "default": 2}}, "steps": [{"id": "a", "run": "a"}, "#
        + #"{"workflow": "c.json", "with": {"limit": \#(value)}}]}"#
    }
    for early in ["3", #""${{ inputs.l }}""#, #""${{ fromJSON('4') }}""#] {
      #expect(try Self.found(main(early), ["c.json": child]) == [])
    }
    let late = try Self.found(main(#""${{ fromJSON(steps.a.stdout) }}""#), ["c.json": child])
    #expect(
      late == [
        "c.json:1 W0336 maxParallel is evaluated before anything runs, but the value of input "
          + "\"limit\" is only known later"
      ])
  }
}
