@testable import WeftExecution

extension SlotQueue.Seat {
  /// An order of steps in a file, with room for instances of each.
  static func order(inFile index: Int) -> UInt64 { UInt64(index) << 32 }
}

extension SlotQueue {
  /// Limits whose chains are suffixes of one another, as those of nested groups are.
  init(slots: Int, groupLimits: [Int], chains: [[Int]], steps: [(weight: Int32, chain: Int)]) {
    self.init(slots: slots)
    var limits: [Int] = []
    for size in groupLimits.reversed() {
      limits.append(addLimit(slots: size, inside: limits.last))
    }
    limits.reverse()
    for (index, step) in steps.enumerated() {
      seat(
        Seat(
          weight: step.weight, order: Seat.order(inFile: index),
          limit: chains[step.chain].first.map { limits[$0] }))
    }
  }
}
