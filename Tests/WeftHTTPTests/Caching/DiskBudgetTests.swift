import Testing
import WeftPlatform

@testable import WeftHTTP

/// When a folder is looked through, and what goes.
struct DiskBudgetTests {
  @Test func looksFirstAndThenAfterAnEighthOfTheLimit() {
    var budget = DiskBudget(limit: 800)
    let isDue = [10, 60, 40, 1, 1].map { budget.isDue(writing: $0) }
    #expect(isDue == [true, false, false, true, false])
  }

  @Test func whatWasUsedLeastRecentlyGoesUntilThereIsRoom() {
    let budget = DiskBudget(limit: 800)
    let entries = (1...9).map {
      PrivateFolder.Entry(name: "\($0)", size: 100, lastUse: Int64(10 - $0))
    }
    #expect(budget.superfluous(entries) == ["9", "8"])
    #expect(budget.superfluous(Array(entries.prefix(7))) == [])
  }
}
