import Testing
import WeftEvents
import WeftExecution

/// Runs that seeds describe, each checked against the guarantees of a run.
@Suite struct SimulationTests {
  /// The measures of one checked run.
  private struct Run {
    let features: Set<Feature>
    let (attempts, readings): (Int, Int)
  }

  @Test("G14: every run that a seed can think of keeps its promises")
  func everyRunKeepsItsPromises() async {
    let runs = await Seeds.map { seed -> Run? in
      guard let simulation = Simulation(seed: seed) else { return nil }
      if Seeds.isOne {
        print(simulation.made.outline)
        for event in simulation.events { print("\(event.elapsed) \(event.kind)") }
      }
      let checker = RunChecker(simulation)
      SimulationTests.report(checker.violations, of: seed)
      return Run(
        features: Feature.all(of: simulation), attempts: simulation.attempts.count,
        readings: checker.readings)
    }
    let rejected = Seeds.count - runs.count
    let readings = runs.map(\.readings).reduce(0, +)
    let attempts = runs.map(\.attempts).reduce(0, +)
    print(
      "\(Seeds.count) seeds, \(rejected) rejected, \(attempts) attempts, \(readings) values read")
    guard Seeds.count >= Seeds.few else { return }
    #expect(rejected * 10 < Seeds.count, "the planner rejects \(rejected) workflows")
    #expect(readings > Seeds.count / 4, "hardly any step reads a value")
    guard Seeds.count >= Seeds.many else { return }
    var pairs = FeaturePairs()
    for run in runs { pairs.add(run.features) }
    let (shown, least) = Seeds.count >= Seeds.full ? (Int.max, 100) : (10, 1)
    for (pair, count) in pairs.rarest.prefix(shown) { print("\(pair): in \(count) workflows") }
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

  @Test func theSameSeedGivesTheSameEvents() async {
    _ = await Seeds.map(atMost: 200) { seed -> Void? in
      let (first, second) = (Simulation(seed: seed), Simulation(seed: seed))
      #expect(
        first?.events.dropFirst().map(\.kind) == second?.events.dropFirst().map(\.kind),
        "seed \(seed)")
    }
  }

  /// Without subscribers no events are made, and the report is updated without them.
  @Test func reportIsTheSameWithoutSubscribers() async {
    _ = await Seeds.map(atMost: 300) { seed -> Void? in
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
  func pastDefectsOfValuesStayFixed(_ found: String, seed: UInt64) throws {
    let simulation = try #require(Simulation(seed: seed, .values))
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
  func pastDefectsStayFixed(_ found: String, seed: UInt64) throws {
    let simulation = try #require(Simulation(seed: seed, .control))
    #expect(RunChecker(simulation).violations == [], "\(found)")
  }
  @Test(
    arguments: [
      ("the computed allowFailure of an approval does not count", 268),
      ("an approval with a computed time limit waits for ever", 64),
      ("a service with a computed number of restarts is not started again", 1293),
    ] as [(String, UInt64)])
  func pastDefectsOfComputedKeysStayFixed(_ found: String, seed: UInt64) throws {
    let simulation = try #require(Simulation(seed: seed, .computed))
    #expect(RunChecker(simulation).violations == [], "\(found)")
  }

  @Test(
    "a cleanup asks about failures, and a step beside its own has lost a service", arguments: [9387]
  )
  func pastDefectsOfServicesStayFixed(seed: UInt64) throws {
    let simulation = try #require(Simulation(seed: seed, .services))
    #expect(RunChecker(simulation).violations == [])
  }

  @Test(
    arguments: [
      ("a step whose condition lacks success(), and is an error with it, blocks nothing", 85),
      ("the same in a loop", 337),
      ("a group that fails at its start is not cleaned up after", 450),
      ("the same of a group with a cleanup of two steps", 543),
    ] as [(String, UInt64)])
  func pastDefectsOfErrorsStayFixed(_ found: String, seed: UInt64) throws {
    let simulation = try #require(Simulation(seed: seed, .errors))
    #expect(RunChecker(simulation).violations == [], "\(found)")
  }
}
