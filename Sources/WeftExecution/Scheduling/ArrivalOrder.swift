/// Steps in the order of their requests for a slot, for ``SlotQueue``, which looks up the step that has waited
/// longest.
///
/// Requests of steps that no longer wait stay until they are the first, or most of the entries.
struct ArrivalOrder {
  typealias Request = SlotQueue.Request

  private var arrivals: [Request] = []
  private var start = 0

  /// The number of entries, including those of steps that no longer wait.
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

  /// Whether most entries are out of date, and it is time to call ``keep(where:)``.
  ///
  /// - Parameter alive: The number of steps that wait.
  func isMostlyStale(alive: Int) -> Bool { arrivals.count > 64 + 2 * alive }

  mutating func keep(where isKept: (Request) -> Bool) {
    arrivals = arrivals[start...].filter(isKept)
    start = 0
  }
}
