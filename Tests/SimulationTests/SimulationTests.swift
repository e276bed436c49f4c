import Testing
import WeftExecution

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct SimulationTests {
  /// How many seeds each test takes; `WEFT_SEEDS=100000 swift test --filter SimulationTests` for more.
  static let seedCount = getenv("WEFT_SEEDS").flatMap { UInt64(String(cString: $0)) } ?? 2_000

  @Test("G14: every run that a seed can think of keeps its promises")
  func everyRunKeepsItsPromises() {
    var readings = 0
    for seed in 0..<SimulationTests.seedCount {
      let checker = RunChecker(Simulation(seed: seed))
      readings += checker.readings
      let violations = checker.violations
      #expect(violations.isEmpty, "seed \(seed): \(violations.joined(separator: "; "))")
    }
    #expect(readings > SimulationTests.seedCount, "hardly any step reads a value")
  }

  @Test func theSameSeedGivesTheSameEvents() {
    for seed in 0..<SimulationTests.seedCount / 10 {
      let first = Simulation(seed: seed)
      let second = Simulation(seed: seed)
      #expect(
        first.events.dropFirst().map(\.kind) == second.events.dropFirst().map(\.kind),
        "seed \(seed)")
    }
  }
}
