import Testing
import WeftDefinition
import WeftJSON
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The elements of a loop, and their keys.
@Suite struct ElementListTests {
  /// The addresses at which a step runs, or the reason why it does not.
  private static func run(_ fanOut: FanOut) throws -> (running: [String], failure: String?) {
    var step = Step("each", run: "true")
    step.control.fanOut = fanOut
    let run = try RunHarness(Workflow(steps: [step]))
    let failures = (run.subscription.takeAll() ?? []).compactMap { event -> String? in
      guard case .groupFinished(_, let end) = event.kind else { return nil }
      return end.failure?.message
    }
    return (run.running, failures.first)
  }

  private static func loop(_ elements: JSONValue, key: Condition? = nil) -> FanOut {
    .forEach(ForEach(in: .values(elements), key: key))
  }

  @Test func anArrayIsNamedByItsIndices() throws {
    #expect(try Self.run(Self.loop(["a", "b"])).running == ["each[0]", "each[1]"])
  }

  @Test func anObjectIsNamedByItsKeys() throws {
    #expect(try Self.run(Self.loop(["x": 1, "y": 2])).running == ["each[x]", "each[y]"])
  }

  @Test func anExpressionNamesEachElement() throws {
    let named = Self.loop([["n": "a"], ["n": 7]], key: "item.n")
    #expect(try Self.run(named).running == ["each[a]", "each[7]"])
  }

  @Test(
    arguments: [
      (["a", "b", "a"], "elements 0 and 2 have the same key, \"a\""),
      (["a", true], "the key of element 1 is a boolean, expected a string or a number"),
      (["a\n"], "the key of element 0 contains a control character, U+000A"),
    ] as [(JSONValue, String)])
  func keysThatCannotBeFailTheStep(elements: JSONValue, message: String) throws {
    // The planner rejects a literal list.
    let list = Condition("${{ fromJSON('\(elements)') }}")
    let (running, failure) = try Self.run(.forEach(ForEach(in: .computed(list), key: "item")))
    #expect(running.isEmpty)
    #expect(failure?.contains(message) == true, "\(failure ?? "none")")
  }

  @Test func aMatrixIsNamedByItsValues() throws {
    let matrix = Matrix(
      axes: [
        Matrix.Axis("os", .values(["linux", "macos"])), Matrix.Axis("version", .values([5, 6])),
      ], include: .values([["os": "linux", "debug": true], ["os": "plan9"]]),
      exclude: .values([["os": "macos", "version": 5]]))
    #expect(
      try Self.run(.matrix(matrix)).running == [
        "each[linux, 5]", "each[linux, 6]", "each[macos, 6]", "each[plan9]",
      ])
  }
}
