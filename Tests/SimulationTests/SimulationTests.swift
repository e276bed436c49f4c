import Testing
import WeftEvents
import WeftExecution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs that seeds describe, each checked against the guarantees of a run.
///
/// `swift test` takes the first few thousand; `WEFT_SEEDS=100000 swift test -c release -Xswiftc -enable-testing
/// --filter SimulationTests` the full count; `WEFT_SEED=7` a single one, `WEFT_SEED=7,12` some.
@Suite struct SimulationTests {
  /// The number of seeds by default, and in a full count.
  private static let (few, many) = (1_500 as UInt64, 100_000 as UInt64)

  static func number(_ name: String) -> UInt64? {
    getenv(name).flatMap { UInt64(String(cString: $0)) }
  }

  static let seeds: [UInt64] = {
    if let chosen = getenv("WEFT_SEED") {
      return String(cString: chosen).split(separator: ",").compactMap { UInt64($0) }
    }
    return Array(0..<(number("WEFT_SEEDS") ?? few))
  }()

  @Test("G14: every run that a seed can think of keeps its promises")
  func everyRunKeepsItsPromises() {
    var pairs = FeaturePairs()
    var (steps, readings, rejected) = (0, 0, 0)
    for seed in SimulationTests.seeds {
      guard let simulation = Simulation(seed: seed) else {
        rejected += 1
        continue
      }
      if SimulationTests.seeds.count == 1 {
        print(simulation.made.outline)
        for event in simulation.events { print("\(event.elapsed) \(event.kind)") }
      }
      let checker = RunChecker(simulation)
      SimulationTests.report(checker.violations, of: seed)
      pairs.add(Feature.all(of: simulation))
      steps += simulation.attempts.count
      readings += checker.readings
    }
    let count = SimulationTests.seeds.count
    print("\(count) seeds, \(rejected) rejected, \(steps) attempts, \(readings) values read")
    guard count >= SimulationTests.few else { return }
    let shown = count >= SimulationTests.many ? Int.max : 10
    for (pair, count) in pairs.rarest.prefix(shown) { print("\(pair): in \(count) workflows") }
    #expect(rejected * 10 < count, "the planner rejects \(rejected) of \(count) workflows")
    #expect(readings > count / 4, "hardly any step reads a value")
    let least = count >= SimulationTests.many ? 100 : 1
    for (pair, count) in pairs.rarest.prefix(while: { $0.count < least }) {
      Issue.record("\(pair) met in \(count) workflows, and not in \(least)")
    }
  }

  private static func report(_ violations: [String], of seed: UInt64) {
    guard !violations.isEmpty else { return }
    Issue.record(
      """
      seed \(seed): \(violations.prefix(5).joined(separator: "; "))
      again: WEFT_SEED=\(seed) swift test --filter SimulationTests
      """)
  }

  @Test func theSameSeedGivesTheSameEvents() {
    for seed in SimulationTests.seeds.prefix(200) {
      let (first, second) = (Simulation(seed: seed), Simulation(seed: seed))
      #expect(
        first?.events.dropFirst().map(\.kind) == second?.events.dropFirst().map(\.kind),
        "seed \(seed)")
    }
  }

  /// Without subscribers no events are made, and the report is updated without them.
  @Test func theReportIsTheSameWhereNobodyListens() {
    for seed in SimulationTests.seeds.prefix(300) {
      let heard = Simulation(seed: seed)?.report
      let unheard = Simulation(seed: seed, isHeard: false)?.report
      #expect(heard?.steps == unheard?.steps, "seed \(seed)")
      #expect(heard?.groups == unheard?.groups, "seed \(seed)")
      #expect(heard?.end == unheard?.end, "seed \(seed)")
    }
  }

  /// The faults that the simulation has found, each by the seed that showed it.
  @Test(
    arguments: [
      ("a retry is asked about an attempt that has failed, and told of success", 613),
      ("what is done finally asks about failures, and a group has tolerated one", 13_190),
    ] as [(String, UInt64)])
  func whatWasFoundAmongValuesDoesNotComeBack(_ found: String, seed: UInt64) throws {
    let simulation = try #require(Simulation(seed: seed))
    #expect(RunChecker(simulation).violations == [], "\(found)")
  }

  @Test(
    arguments: [
      ("a group's clean-up asks for a slot that the one before still holds", 3),
      ("what is done finally in a run that is killed has no culprit", 20),
      ("a limit of an element is forgotten while something further in holds it", 60),
      ("a loop that does not start stands twice in the report", 1),
      ("a loop whose elements were cancelled counts as a success", 12),
      ("what is in a race that does not start is not counted", 158),
      ("the failure of a clean-up comes before that of its group", 287),
      ("a loop starts in a group that does not", 628),
      ("a group that is cancelled starts because its condition looks at failures", 299),
      ("a retry is announced of a step that is held back", 422),
      ("clean-up does not know what failed above its group", 1705),
      ("who waits for something outside does not know what failed above its group", 667),
      ("a retried group that timed out is not what the run fails of", 217),
      ("a group in a run that is being cancelled has no time limit", 324),
      ("a failure stops what runs in a group that is sheltered from it", 92),
      ("a retried group in a sheltered one is tried again in a race that is won", 1787),
      ("an element whose loop needs what has failed has success()", 38539),
      ("a group that starts in spite of an end outside of it is held back by it", 44594),
      ("what a second request ends is ended by the run's time limit", 5293),
      ("an attempt that is not made after all counts for the rate of a pool", 1943),
      ("a group tolerates its time limit, and tells it for the failure that it does not", 1655),
    ] as [(String, UInt64)])
  func whatWasFoundDoesNotComeBack(_ found: String, seed: UInt64) throws {
    let simulation = try #require(Simulation(seed: seed, .control))
    #expect(RunChecker(simulation).violations == [], "\(found)")
  }
}
