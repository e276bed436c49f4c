import TestSupport
import Testing
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct InstanceTableTests {
  /// Random numbers, close together and far apart, are added and removed; a dictionary has the expected state.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func knowsWhatADictionaryKnows(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (table, known) = (InstanceTable<Int>(), [Int: Int]())
    let spread = [1, 8, 64, 1_000].randomElement(using: &random)!
    for turn in 0..<2_000 {
      let key = Int.random(in: 0..<40, using: &random) * spread
      if Bool.random(using: &random) {
        table.set(turn, for: key)
        known[key] = turn
      } else {
        #expect(table.remove(key) == known.removeValue(forKey: key))
      }
      #expect(table.count == known.count && table.isEmpty == known.isEmpty)
      let asked = Int.random(in: 0..<40, using: &random) * spread
      #expect(table[asked] == known[asked])
    }
    #expect(table.values.sorted() == known.values.sorted())
    for (key, value) in known {
      let found = table.first { $0.value == value }
      #expect(found?.key == key)
    }
  }

  /// Minutes, if each removal looked at all others.
  @Test(.hangLimit)
  func theOldestOfManyNeighboursIsRemovedInConstantTime() {
    var table = InstanceTable<Int>()
    for key in 0..<300_000 { table.set(key, for: key) }
    for key in 0..<300_000 {
      let (removed, absent) = (table.remove(key), table[key])
      #expect(removed == key && absent == nil)
    }
    #expect(table.isEmpty)
  }

  @Test func anEmptyOneKnowsNothing() {
    var table = InstanceTable<String>()
    #expect(table[0] == nil && table.remove(7) == nil && table.isEmpty)
    #expect(table.first { _ in true } == nil)
  }
}

@Suite struct FreeListTests {
  @Test func rowsGoToOthersOfTheirLength() {
    var stock = FreeList()
    #expect(stock.take(1) == nil && stock.take(3) == nil)
    stock.put(10, length: 1)
    stock.put(20, length: 3)
    stock.put(30, length: 3)
    #expect(stock.take(2) == nil)
    #expect(stock.take(3) == 30)
    #expect(stock.take(1) == 10)
    #expect(stock.take(1) == nil)
    #expect(stock.take(3) == 20)
    #expect(stock.take(3) == nil)
  }
}
