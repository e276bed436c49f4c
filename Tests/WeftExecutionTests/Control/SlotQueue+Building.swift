@testable import WeftExecution

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
