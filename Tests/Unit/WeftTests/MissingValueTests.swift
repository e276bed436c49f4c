import Synchronization
import TestSupport
import Testing
import Weft

/// Resumed runs in which a step reads a value that is not recorded because it was secret.
@Suite(.hangLimit) struct MissingValueTests {
  /// Runs commands that print their name in capitals; "fails" fails. Notes each with what it got in the variable R.
  private final class Commands: Sendable {
    private let ran = Mutex<[String]>([])

    var runner: CommandRunner {
      { [self] call in
        let name = call.arguments[0]
        let read = call.environment["R"].map { "(\($0))" } ?? ""
        ran.withLock { $0.append(name + read) }
        call.write(name.uppercased() + "-value\n")
        return .code(name == "fails" ? 1 : 0)
      }
    }

    func take() -> [String] {
      ran.withLock { ran in
        defer { ran = [] }
        return ran.sorted()
      }
    }
  }

  private static let secret =
    #""outputs": { "o": { "value": "${{ self.stdout }}", "secret": true } }"#
  private static let x = #"{ "id": "x", "run": ["x"], "idempotent": true, \#(secret) }"#
  private static let outputs = #""outputs": { "o": "${{ steps.x.outputs.o }}", "plain": "p" }"#

  private static func reader(_ name: String, _ expression: String) -> String {
    #"{ "run": ["\#(name)"], "env": { "R": "${{ \#(expression) }}" } }"#
  }

  @Test(
    "a step runs again for what has yet to run and reads its secret output",
    arguments: [
      (x, "steps.x.outputs.o", ["fails(X-value)", "x"]),
      (#"{ "id": "g", "steps": [\#(x)] }"#, "steps.x.outputs.o", ["fails(X-value)", "x"]),
      (
        #"{ "id": "g", "steps": [\#(x), "y"], \#(outputs) }"#, "steps.g.outputs.o",
        ["fails(X-value)", "x"]
      ),
      // What is recorded is not made again.
      (
        #"{ "id": "g", "steps": [\#(x)], \#(outputs) }"#, "steps.g.outputs.plain",
        ["fails(p)", "x"]
      ),
      (
        #"{ "id": "g", "retry": 1, "steps": [\#(x)], \#(outputs) }"#, "steps.g.outputs.o",
        ["fails(X-value)", "x"]
      ),
      (
        #"{ "id": "r", "race": [\#(x)], \#(outputs) }"#, "steps.r.outputs.o",
        ["fails(X-value)", "x"]
      ),
      (
        #"{ "id": "l", "forEach": ["a", "b"], "run": ["x"], "idempotent": true, \#(secret) }"#,
        "join(steps.l.results.*.outputs.o)", ["fails(X-value,X-value)", "x", "x"]
      ),
      (
        #"{ "id": "l", "forEach": ["a"], "steps": [\#(x), { "id": "y", "run": ["y"] }], \#(outputs) }"#,
        "steps.l.results[0].outputs.o", ["fails(X-value)", "x"]
      ),
      // A chain: y is made again for the last step, and x for y.
      (
        """
        \(x), { "id": "y", "run": ["y"], "env": { "R": "${{ steps.x.outputs.o }}" }, "idempotent": true, \(secret) }
        """, "steps.y.outputs.o", ["fails(Y-value)", "x", "y(X-value)"]
      ),
      // Only a step that is done reads it.
      ("\(x), \(reader("y", "steps.x.outputs.o"))", "'none'", ["fails(none)"]),
      ("\(x), \(reader("y", "steps.x.outputs.o"))", "steps.x.outcome", ["fails(success)", "x"]),
      // Elements of a secret list are restored by their keys.
      (
        """
        \(x), { "id": "l", "forEach": { "in": "${{ split(steps.x.outputs.o, '-') }}" }, "run": ["y"] }
        """, "join(steps.l.results.*.stdout)", ["fails(Y-value,Y-value)"]
      ),
    ])
  func theProducerRunsAgain(steps: String, read: String, expected: [String]) async throws {
    let commands = Commands()
    let folder = try Scratch()
    let store = FileRunStore(directory: folder.path + "/.weft")
    let engine = Engine(commands: commands.runner)
    let workflow = try Workflow(
      json: #"{ "steps": [\#(steps), \#(MissingValueTests.reader("fails", read))] }"#,
      path: "w.json")
    let run = try engine.start(workflow, in: store)
    #expect(await run.report.end?.outcome == .failure)
    let first = commands.take()
    #expect(first.contains { expected.contains($0) && $0.hasPrefix("fails") }, "\(first)")
    for _ in 0..<2 {
      let next = try engine.resume(run.id, workflow, in: store)
      #expect(await next.report.end?.outcome == .failure)
      #expect(commands.take() == expected)
    }
  }

  @Test("a step that may not run again is in doubt, in whatever it is")
  func othersAreInDoubt() async throws {
    let x = MissingValueTests.x.replacing(#""idempotent": true, "#, with: "")
    for steps in [x, #"{ "id": "g", "steps": [\#(x)] }"#] {
      let commands = Commands()
      let folder = try Scratch()
      let store = FileRunStore(directory: folder.path + "/.weft")
      let engine = Engine(commands: commands.runner)
      let workflow = try Workflow(
        json:
          #"{ "steps": [\#(steps), \#(MissingValueTests.reader("fails", "steps.x.outputs.o"))] }"#,
        path: "w.json")
      let run = try engine.start(workflow, in: store)
      _ = await run.report
      _ = commands.take()
      let next = try engine.resume(run.id, workflow, in: store)
      #expect(await next.report.end?.firstFailure == StepAddress("x"))
      #expect(commands.take().isEmpty)
    }
  }
}
