@testable import WeftEvents
@testable import WeftExecution

extension SlotQueue.SlotParameters {
  /// The position of a step in a file, with room for instances of each step.
  static func order(inFile index: Int) -> UInt64 { UInt64(index) << 32 }
}

extension SlotQueue {
  /// A queue whose chains of limits are suffixes of one another, like those of nested groups.
  init(slots: Int, groupLimits: [Int], chains: [[Int]], steps: [(weight: Int32, chain: Int)]) {
    self.init(slots: slots)
    var limits: [Int] = []
    for size in groupLimits.reversed() {
      limits.append(addLimit(slots: size, inside: limits.last))
    }
    limits.reverse()
    for (index, step) in steps.enumerated() {
      allocate(
        SlotParameters(
          weight: step.weight, order: SlotParameters.order(inFile: index),
          limit: chains[step.chain].first.map { limits[$0] }))
    }
  }
}
