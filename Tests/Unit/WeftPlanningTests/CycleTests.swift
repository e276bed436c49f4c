import TestSupport
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftTestKit

struct CycleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var workflow: Workflow
    var path: String
    var hops: [String]
    var help: String

    init(
      _ what: String, _ workflow: Workflow, _ path: String, _ hops: [String], help: String
    ) {
      testDescription = what
      self.workflow = workflow
      self.path = path
      self.hops = hops
      self.help = help
    }
  }

  static let cases = [
    Case(
      "G01: three needs",
      Workflow(parallel: [
        Step("a", needs: ["b"]), Step("b", needs: ["c"]), Step("c", needs: ["a"]),
      ]),
      "a → b → c → a", ["\"a\" needs \"b\"", "\"b\" needs \"c\"", "\"c\" needs \"a\""],
      help: "remove one of the needs"),
    Case(
      "a need of a later member of `steps` names the list",
      Workflow(steps: [Step("a", needs: ["c"]), Step("b"), Step("c")]),
      "a → c → b → a",
      [
        "\"a\" needs \"c\"", "\"c\" comes after \"b\" in this list",
        "\"b\" comes after \"a\" in this list",
      ],
      help: "a member of \"steps\" waits for the one before it: move \"c\", give it its own "
        + "\"needs\", or remove one of the needs"),
    Case(
      "a step waits for what its group waits for",
      Workflow(parallel: [
        Step("g", steps: [Step("a")], needs: ["b"]), Step("b", needs: ["a"]),
      ]),
      "g → b → a → g", ["\"g\" needs \"b\"", "\"b\" needs \"a\"", "\"a\" is inside group \"g\""],
      help:
        "members of \"g\" wait for what \"g\" waits for: move \"a\" out of it, or remove one of "
        + "the needs"),
    Case(
      "a group ends when its members have ended",
      Workflow(parallel: [
        Step("g", parallel: [Step("a"), Step("b", needs: ["c"])]), Step("c", needs: ["g"]),
      ]),
      "b → c → g → b",
      ["\"b\" needs \"c\"", "\"c\" needs \"g\"", "\"g\" ends when \"b\" has ended"],
      help: "remove one of the needs"),
    Case(
      "an empty group is one station",
      Workflow(parallel: [Step("g", parallel: [], needs: ["a"]), Step("a", needs: ["g"])]),
      "g → a → g", ["\"g\" needs \"a\"", "\"a\" needs \"g\""],
      help: "remove one of the needs"),
    Case(
      "the log of a later step",
      Workflow(steps: [Step("a", readingLogOf: "b"), Step("b", needs: ["a"])]),
      "a → b → a", ["\"a\" reads the log of \"b\"", "\"b\" needs \"a\""],
      help: "remove one of the needs, or read the log of another step"),
    Case(
      "the shortest of several in one knot",
      Workflow(parallel: [
        Step("a", needs: ["b"]), Step("b", needs: ["c"]), Step("c", needs: ["a", "d"]),
        Step("d", needs: ["c"]),
      ]),
      "c → d → c", ["\"c\" needs \"d\"", "\"d\" needs \"c\""],
      help: "remove one of the needs"),
  ]

  @Test(arguments: cases)
  func aCycleIsShownHopByHop(_ example: Case) {
    let diagnostics = Planner.plan(example.workflow).diagnostics
    #expect(diagnostics.map(\.code) == ["W0206"])
    #expect(diagnostics.map(\.message) == ["steps wait for each other: " + example.path])
    #expect(diagnostics.first?.related.map(\.message) == example.hops)
    #expect(diagnostics.first?.help == example.help)
  }

  @Test func eachCycleIsReportedOnceWithoutItsDependents() {
    let workflow = Workflow(parallel: [
      Step("a", needs: ["b"]), Step("b", needs: ["a"]), Step("x", needs: ["a"]),
      Step("c", needs: ["d", "x"]), Step("d", needs: ["c"]), Step("y"),
    ])
    #expect(
      problems(of: workflow) == [
        "W0206 steps wait for each other: a → b → a",
        "W0206 steps wait for each other: c → d → c",
      ])
  }

  @Test("G01: a cycle of very many steps is shown by its ends", arguments: [false, true])
  func aLongCycleIsElided(runsForward: Bool) throws {
    let count = largeCount
    let steps = (0..<count).map { index in
      let next = (index + (runsForward ? 1 : count - 1)) % count
      return Step(StepID("s\(index)")!, needs: [Need("s\(next)")])
    }
    let diagnostics = Planner.plan(Workflow(parallel: steps)).diagnostics
    let cycle = try #require(diagnostics.first)
    #expect(diagnostics.count == 1 && cycle.related.count == 10)
    #expect(
      cycle.message == "steps wait for each other: "
        + (runsForward
          ? "s0 → s1 → s2 → s3 → s4 → s5"
            + " → … \(count - 9) more … → s\(count - 3) → s\(count - 2) → s\(count - 1) → s0"
          : "s0 → s\(count - 1) → s\(count - 2) → s\(count - 3) → s\(count - 4) → s\(count - 5)"
            + " → … \(count - 9) more … → s3 → s2 → s1 → s0"))
    #expect(cycle.related[5].message == "… and so on, \(count - 9) more times …")
  }

  @Test func wrongNeedInALongListIsFound() throws {
    var steps = (0..<50_000).map { Step(StepID("s\($0)")!) }
    steps[7].needs = ["s49990"]
    let cycle = try #require(Planner.plan(Workflow(steps: steps)).diagnostics.first)
    #expect(cycle.message.hasPrefix("steps wait for each other: s7 → s49990 → s49989 → "))
    #expect(cycle.message.hasSuffix(" → s9 → s8 → s7"))
  }

  /// The search gives up being exact here, but still shows a cycle.
  @Test func aHugeKnotIsDoneInTime() throws {
    var random = SeededGenerator(seed: 1)
    let count = 50_000
    let steps = (0..<count).map { index in
      let needs = [(index + 1) % count, Int.random(in: 0..<count, using: &random)]
      return Step(
        StepID("s\(index)")!, needs: needs.filter { $0 != index }.map { Need("s\($0)") })
    }
    let diagnostics = Planner.plan(Workflow(parallel: steps)).diagnostics
    #expect(diagnostics.count { $0.code == "W0206" } == 1)
  }

  @Test(arguments: 0..<500 as Range<UInt64>)
  func theCycleShownIsARealOneAndAShortest(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 2...9, using: &random)
    var needs = Array(repeating: Set<Int>(), count: count)
    for _ in 0..<Int.random(in: 1...2 * count, using: &random) {
      let from = Int.random(in: 0..<count, using: &random)
      let to = Int.random(in: 0..<count, using: &random)
      if from != to { needs[from].insert(to) }
    }
    let steps = needs.indices.map { index in
      Step(StepID("s\(index)")!, needs: needs[index].sorted().map { Need("s\($0)") })
    }
    let cycles = Planner.plan(Workflow(parallel: steps)).diagnostics.map(stations)
    for cycle in cycles {
      #expect(Set(cycle.dropLast()).count == cycle.count - 1 && cycle.first == cycle.last)
      for (from, to) in zip(cycle, cycle.dropFirst()) { #expect(needs[from].contains(to)) }
    }
    let knots = Knots(needs)
    #expect(cycles.count == knots.count)
    #expect(cycles.map { $0.count - 1 } == cycles.map { knots.girth(around: $0[0]) })
  }

  /// The numbers of the steps in a message such as `…: s0 → s1 → s0`.
  private func stations(of diagnostic: Diagnostic) -> [Int] {
    diagnostic.message.split(separator: ": ")[1].split(separator: " → ").map {
      Int($0.dropFirst())!
    }
  }
}

/// Strongly connected components and their shortest cycles, by powers of the adjacency matrix.
private struct Knots {
  /// `distances[a][b]`: the least number of edges, at least one, from a to b.
  private let distances: [[Int?]]

  init(_ needs: [Set<Int>]) {
    var distances = needs.map { targets in
      needs.indices.map { targets.contains($0) ? Optional(1) : nil }
    }
    for middle in needs.indices {
      for from in needs.indices {
        for to in needs.indices {
          guard let first = distances[from][middle], let second = distances[middle][to] else {
            continue
          }
          distances[from][to] = min(distances[from][to] ?? .max, first + second)
        }
      }
    }
    self.distances = distances
  }

  private func knot(of node: Int) -> [Int] {
    distances.indices.filter { distances[node][$0] != nil && distances[$0][node] != nil }
  }

  var count: Int { Set(distances.indices.map(knot).filter { !$0.isEmpty }).count }

  func girth(around node: Int) -> Int { knot(of: node).compactMap { distances[$0][$0] }.min()! }
}
