import Testing
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

@Suite struct ParallelLimitTests {
  private let few = DescriptorBudget(limit: 64, open: 6)

  @Test func fittingLimitIsKeptSilently() {
    let limit = ParallelLimit(wanted: 5, steps: 100, budget: few)
    #expect(limit.count == 5 && limit.warning == nil)
  }

  @Test func unneededDescriptorsAreNotRequired() {
    let limit = ParallelLimit(wanted: 200, steps: 5, budget: few)
    #expect(limit.count == 200 && limit.warning == nil)
  }

  @Test func anEmptyPlanNeedsNothing() {
    let none = DescriptorBudget(limit: 3, open: 3)
    #expect(ParallelLimit(wanted: 2, steps: 0, budget: none).warning == nil)
  }

  @Test func jobserversTakeTheirShare() {
    let limit = ParallelLimit(wanted: 200, steps: 1000, budget: few, extra: 3)
    #expect(limit.count == 3)
    #expect(
      limit.warning?.help == "raise the limit first (ulimit -n 2614), or run fewer (-j 3)")
  }

  @Test func limitTooHighIsLoweredWithAWarning() throws {
    let limit = ParallelLimit(wanted: 200, steps: 1000, budget: few)
    #expect(limit.count == 5)
    let warning = try #require(limit.warning)
    #expect(warning.kind == .fewDescriptors)
    #expect(
      warning.message == "only 5 of 200 steps can run at once: the limit of open files is 64, "
        + "and 6 are already open")
    #expect(
      warning.help == "raise the limit first (ulimit -n 2014), or run fewer (-j 5)")
  }
}
