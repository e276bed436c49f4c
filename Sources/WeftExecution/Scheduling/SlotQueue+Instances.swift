/// Instances of steps, which come and go during the run: those of loop elements.
extension SlotQueue {
  /// A further instance of a step, with its weight and demand.
  struct Copy {
    /// The number of the step.
    var step: Int
    /// Its position in the file order, used only if there is a single slot; otherwise it has that of the step.
    var order: UInt64
    /// The innermost limit, as in ``Seat/limit``.
    var limit: Int?

    init(of step: Int, order: UInt64, limit: Int?) {
      self.step = step
      self.order = order
      self.limit = limit
    }
  }

  /// A row and limits to be removed as soon as none of them is waited for or held.
  struct Departure {
    let row: Range<Int>
    let limits: [Int]
  }

  /// Assigns consecutive numbers to instances that belong together, in their order.
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

  /// Removes a row, and limits that no other row is in. Their numbers are reused once the last slot is given back.
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

  /// Removes a row if that is possible now.
  ///
  /// - Returns: Whether it was removed: no instance waits or holds a slot.
  private mutating func seeOff(_ departure: Departure) -> Bool {
    // Instances further in may hold slots of these limits a little longer.
    guard departure.row.allSatisfy({ records[$0].position == .absent }),
      departure.limits.allSatisfy({ limits[$0].free == limits[$0].slots })
    else { return false }
    numbers?.giveBack(departure.row)
    for limit in departure.limits { removeLimit(limit) }
    return true
  }
}
