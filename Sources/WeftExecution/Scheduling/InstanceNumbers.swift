/// Numbers for steps that come and go while the run goes on: those of a fan-out's elements.
///
/// What belongs together has numbers in a row. Those given back are handed out again to others of the same
/// count, so that tables by number grow with what is alive at once, and not with all there ever was.
struct InstanceNumbers {
  private var next: Int
  private var free = RowStock()

  /// - Parameter first: The numbers below are those of the plan's own steps.
  init(from first: Int) { next = first }

  /// The first number that was never handed out.
  var end: Int { next }

  mutating func take(_ count: Int) -> Range<Int> {
    if let first = free.take(count) { return first..<first + count }
    defer { next += count }
    return next..<next + count
  }

  /// - Parameter row: As it was taken.
  mutating func giveBack(_ row: Range<Int>) {
    guard !row.isEmpty else { return }
    free.put(row.lowerBound, length: row.count)
  }
}
