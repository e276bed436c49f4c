import Testing

@testable import WeftPlatform

@Suite struct DescriptorBudgetTests {
  @Test(arguments: [
    (limit: 64, open: 6, programs: 5), (limit: 1024, open: 6, programs: 101),
    (limit: 28, open: 0, programs: 2), (limit: 27, open: 0, programs: 1),
    (limit: 8, open: 6, programs: 1), (limit: 3, open: 3, programs: 1),
    (limit: 1 << 20, open: 5, programs: 104_856),
  ])
  func asManyProgramsFitAsHaveTheirDescriptors(limit: Int, open: Int, programs: Int) {
    #expect(DescriptorBudget(limit: limit, open: open).programs() == programs)
  }

  @Test(arguments: [1, 2, 17, 200, 1000], [0, 2])
  func underTheLimitThatIsAdvisedSoManyFitAndNoMore(count: Int, extra: Int) {
    let budget = DescriptorBudget(limit: 64, open: 7)
    var raised = budget
    raised.limit = budget.limit(forPrograms: count, extra: extra)
    #expect(raised.programs(extra: extra) == count)
    raised.limit -= 1
    #expect(raised.programs(extra: extra) == max(1, count - 1))
  }

  /// Runs in a process of its own, where no other test opens or closes descriptors.
  @Test func openDescriptorsAreCounted() async {
    await #expect(processExitsWith: .success) {
      // The test library opens a descriptor now and then, also here; so one of several counts is exact.
      let differences = try (0..<20).map { _ in
        let before = DescriptorBudget.ofThisProcess
        // The limit may be as low as 256, and leave no room for a thousand.
        let count = min((before.limit - before.open) / 2, 1000)
        let files = try (0..<count).map { _ in try Descriptor.opened(forReading: "/dev/null") }
        let budget = DescriptorBudget.ofThisProcess
        #expect(budget.limit == before.limit && budget.open < budget.limit)
        return budget.open - before.open - files.count
      }
      #expect(differences.contains(0))
    }
  }
}
