/// The number of bytes that may still be read.
struct ByteBudget: Sendable, Hashable {
  let limit: Int
  private(set) var left: Int

  init(limit: Int) {
    self.limit = limit
    left = limit
  }

  mutating func take(_ count: Int) { left = max(0, left - count) }

  /// Stops all further reading after a file that was too large: which of the smaller files still fit would depend on
  /// their order.
  mutating func exhaust() { left = 0 }
}
