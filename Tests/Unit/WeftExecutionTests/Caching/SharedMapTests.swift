import Testing
import WeftTestKit

@testable import WeftExecution

struct SharedMapTests {
  /// A set of numbers, as a value that merges.
  private final class Numbers: SharedMapValue {
    let all: Set<Int>

    init(_ all: Set<Int>) { self.all = all }

    func merged(with other: Numbers) -> Numbers {
      if all.isSuperset(of: other.all) { return self }
      return other.all.isSuperset(of: all) ? other : Numbers(all.union(other.all))
    }
  }

  private struct Model {
    var map = SharedMap<Numbers>()
    var numbers: [String: Set<Int>] = [:]

    mutating func set(_ number: Int, _ name: String) {
      numbers[name, default: []].insert(number)
      map[name] = Numbers(numbers[name]!)
    }

    mutating func merge(_ other: Model) {
      map.merge(other.map)
      numbers.merge(other.numbers) { $0.union($1) }
    }

    var holds: Bool {
      var found: [String: Set<Int>] = [:]
      var isOnce = true
      map.visit { name, value in
        isOnce = found.updateValue(value.all, forKey: name) == nil && isOnce
      }
      return isOnce && found == numbers && map.isEmpty == numbers.isEmpty
        && numbers.allSatisfy { map[$0.key]?.all == $0.value }
    }
  }

  /// Changes to copies, and mergers of them, leave each as a dictionary would be.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func mapsAreAsDictionaries(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var models = [Model()]
    let names = [3, 40, 2000].randomElement(using: &random)!
    for number in 0..<400 {
      var model = models.randomElement(using: &random)!
      if Int.random(in: 0..<4, using: &random) == 0 {
        model.merge(models.randomElement(using: &random)!)
      } else {
        model.set(number % 7, "name \(Int.random(in: 0..<names, using: &random))")
      }
      models.append(model)
    }
    let wrong = models.count { !$0.holds }
    #expect(wrong == 0)
    #expect(models[0].map["name 1"] == nil)
  }

  /// A map with all of another one is the result of their merger, so that what is merged again and again stays shared.
  @Test func aMergerWithALaterMapIsThatMap() {
    var earlier = Model()
    for number in 0..<500 { earlier.set(number, "name \(number)") }
    var later = earlier
    for number in 400..<900 { later.set(-1, "name \(number)") }
    for (own, other) in [(earlier, later), (later, earlier)] {
      var merged = own
      merged.merge(other)
      #expect(merged.holds && merged.map.isSame(as: later.map))
    }
  }
}
