import Testing

/// Checks that the checkers work: each planted fault shows in some of a few hundred runs.
@Suite struct PlantedFaultTests {
  @Test(arguments: PlantedFault.allCases)
  func everyPlantedFaultIsFound(_ fault: PlantedFault) {
    let isFound = (0..<400 as Range<UInt64>).contains { seed in
      guard let simulation = Simulation(seed: seed, planting: fault) else { return false }
      return !RunChecker(simulation).violations.isEmpty
    }
    #expect(isFound, "\(fault) is not found")
  }
}
