/// How many bytes may still be read.
struct ByteBudget: Sendable, Hashable {
  let limit: Int
  private(set) var left: Int

  init(limit: Int) {
    self.limit = limit
    left = limit
  }

  mutating func take(_ count: Int) { left = max(0, left - count) }

  /// Nothing more is read, for something was too much: which of the smaller files still fit would
  /// depend on their order.
  mutating func exhaust() { left = 0 }
}
