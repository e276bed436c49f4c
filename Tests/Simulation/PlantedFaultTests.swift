import Testing

/// Checks that the checkers work: each planted fault shows in some of a few hundred runs.
@Suite struct PlantedFaultTests {
  @Test(arguments: PlantedFault.allCases)
  func everyPlantedFaultIsFound(_ fault: PlantedFault) {
    var found = 0
    for seed in 0..<400 as Range<UInt64> where found < 3 {
      guard let simulation = Simulation(seed: seed, planting: fault) else { continue }
      if !RunChecker(simulation).violations.isEmpty { found += 1 }
    }
    #expect(found > 0, "\(fault) is not found")
  }
}
