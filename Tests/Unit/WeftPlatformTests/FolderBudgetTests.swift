import Testing
import WeftPlatform

/// The times at which a folder is scanned, and what is removed.
struct FolderBudgetTests {
  @Test func looksFirstAndThenAfterAnEighthOfTheLimit() {
    var budget = FolderBudget(limit: 800)
    let isDue = [10, 60, 30, 1, 1].map { budget.isDue(writing: $0) }
    #expect(isDue == [true, false, false, true, false])
  }

  @Test func largeWriteIsDueImmediately() {
    var budget = FolderBudget(limit: 800)
    #expect([300, 1, 99, 1].map { budget.isDue(writing: $0) } == [true, true, false, true])
  }

  @Test func budgetFreesBytesForAWrite() {
    let budget = FolderBudget(limit: 800)
    let entries = (1...4).map {
      PrivateFolder.Entry(name: "\($0)", size: 100, lastUse: Int64($0))
    }
    #expect(budget.excess(entries, writing: 300) == [])
    #expect(budget.excess(entries, writing: 600) == ["1", "2"])
  }

  @Test func leastRecentlyUsedFilesAreRemovedFirst() {
    let budget = FolderBudget(limit: 800)
    let entries = (1...9).map {
      PrivateFolder.Entry(name: "\($0)", size: 100, lastUse: Int64(10 - $0))
    }
    #expect(budget.excess(entries) == ["9", "8"])
    #expect(budget.excess(Array(entries.prefix(7))) == [])
  }
}
