import Synchronization
import TestSupport
import Testing
import Weft

/// Resumed runs in which a step reads a value that is not recorded because it was secret.
@Suite(.hangLimit) struct MissingValueTests {
  /// Runs commands that print their name in capitals; "fails" fails, and "once" its first time. Notes each with what it got in the variable R.
  private final class Commands: Sendable {
    private let ran = Mutex<[String]>([])

    var runner: CommandRunner {
      { [self] call in
        let name = call.arguments[0]
        let read = call.environment["R"].map { "(\($0))" } ?? ""
        ran.withLock { $0.append(name + read) }
        call.write(name.uppercased() + "-value\n")
        let isFirst = ran.withLock { ran in ran.count { $0 == name } == 1 }
        return .code(name == "fails" || name == "once" && isFirst ? 1 : 0)
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

  /// Runs a workflow that fails, and resumes it twice.
  private func parts(of json: String) async throws -> [[String]] {
    let commands = Commands()
    let folder = try Scratch()
    let store = FileRunStore(directory: folder.path + "/.weft")
    let engine = Engine(commands: commands.runner)
    let workflow = try Workflow(json: json, path: "w.json")
    let run = try engine.start(workflow, in: store)
    #expect(await run.report.end?.outcome == .failure)
    var parts = [commands.take()]
    for _ in 0..<2 {
      let next = try engine.resume(run.id, workflow, in: store)
      #expect(await next.report.end?.outcome == .failure)
      parts.append(commands.take())
    }
    return parts
  }

  @Test("a step runs again for finally, which always does")
  func finallyReads() async throws {
    let finally = MissingValueTests.reader("f", "steps.x.outputs.o")
    let parts = try await parts(
      of: #"{ "steps": [\#(MissingValueTests.x), { "run": ["fails"] }], "finally": [\#(finally)] }"#
    )
    #expect(parts == Array(repeating: ["f(X-value)", "fails", "x"], count: 3))
  }

  @Test("the values of a restored group are those of the journal")
  func restoredGroups() async throws {
    let group = #"""
      { "id": "g", "retry": { "max": 2, "delay": "1ms" }, "steps": [{ "run": ["once"] }],
        "outputs": { "a": "${{ self.attempts }}" } },
      { "id": "r", "race": [{ "run": ["x"] }], "outputs": { "w": "${{ self.winner }}" } }
      """#
    let reader = #"""
      { "run": ["fails"],
        "env": { "R": "${{ steps.g.outputs.a }},${{ steps.g.attempts }},${{ steps.r.outputs.w }}" } }
      """#
    let parts = try await parts(of: #"{ "steps": [\#(group), \#(reader)] }"#)
    #expect(
      parts == [["fails(2,2,r.1)", "once", "once", "x"], ["fails(2,2,r.1)"], ["fails(2,2,r.1)"]])
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
