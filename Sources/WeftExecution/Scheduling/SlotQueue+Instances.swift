/// Instances of steps, which come and go while the run goes on: those of a fan-out's elements.
extension SlotQueue {
  /// Another instance of a step: with its weight and its demand, in a place of its own.
  struct Copy {
    /// The number of the step.
    var step: Int
    /// Its place among all where there is but one slot; else it has that of the step.
    var order: UInt64
    /// As ``Seat/limit``.
    var limit: Int?

    init(of step: Int, order: UInt64, limit: Int?) {
      self.step = step
      self.order = order
      self.limit = limit
    }
  }

  /// What is to be forgotten as soon as nothing of it waits or is held.
  struct Departure {
    let row: Range<Int>
    let limits: [Int]
  }

  /// Gives numbers in a row to instances that belong together, in their order.
  mutating func seat(_ copies: [Copy]) -> Range<Int> {
    // The plan's own steps are seated before all others.
    if numbers == nil { numbers = InstanceNumbers(from: records.count) }
    let row = numbers!.take(copies.count)
    for (number, copy) in zip(row, copies) {
      let original = records[copy.step]
      let key = keysAreFileOrder ? copy.order : original.key
      place(
        Record(key: key, limit: Int32(copy.limit ?? -1)),
        demand: pools.demand(ofLine: original.line), as: number)
    }
    return row
  }

  /// The row is done with, and so are these limits, which nobody else is in. Their numbers are given to
  /// others once the last slot is back.
  mutating func unseat(_ row: Range<Int>, limits: [Int] = []) {
    let departure = Departure(row: row, limits: limits)
    if !seeOff(departure) { departing.append(departure) }
  }

  mutating func seeOff() {
    guard !departing.isEmpty else { return }
    let leaving = departing
    departing = []
    for departure in leaving where !seeOff(departure) { departing.append(departure) }
  }

  /// - Returns: Whether nothing of it waits or is held any more.
  private mutating func seeOff(_ departure: Departure) -> Bool {
    // Of its limits, instances further in may hold something a little longer.
    guard departure.row.allSatisfy({ records[$0].position == .absent }),
      departure.limits.allSatisfy({ limits[$0].free == limits[$0].slots })
    else { return false }
    numbers?.giveBack(departure.row)
    for limit in departure.limits { removeLimit(limit) }
    return true
  }
}
