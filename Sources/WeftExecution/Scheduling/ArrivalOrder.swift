/// Steps in the order of their requests. Those that no longer wait stay until they come first, or are the
/// majority.
struct ArrivalOrder {
  typealias Request = SlotQueue.Request

  private var arrivals: [Request] = []
  private var start = 0

  /// Those that no longer wait included.
  var count: Int { arrivals.count }
  var first: Request? { start < arrivals.count ? arrivals[start] : nil }

  mutating func append(_ arrival: Request) { arrivals.append(arrival) }

  mutating func removeFirst() {
    start += 1
    guard start == arrivals.count else { return }
    arrivals.removeAll(keepingCapacity: true)
    start = 0
  }

  var indices: Range<Int> { start..<arrivals.count }
  subscript(index: Int) -> Request { arrivals[index] }

  /// Whether it is time to ``keep(where:)`` those that wait, of which there are so many.
  func isMostlyStale(alive: Int) -> Bool { arrivals.count > 64 + 2 * alive }

  mutating func keep(where isKept: (Request) -> Bool) {
    arrivals = arrivals[start...].filter(isKept)
    start = 0
  }
}
