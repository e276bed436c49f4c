/// The amount of something in use over time: slots of the run, or of one pool.
package struct UsageSeries: Sendable, Hashable {
  /// The amount in use from this time on.
  package struct Point: Sendable, Hashable {
    package var time: Int
    package var used: Int
  }

  package let name: String
  /// The amount that there is; `nil` if it is not known.
  package internal(set) var capacity: Int?
  /// Each change, in order of time; equal times occur once.
  package private(set) var points: [Point] = []
  private var changes: [Change] = []
  private(set) var peak = 0

  /// The start or the end of a use.
  private struct Change: Sendable, Hashable {
    let time: Int
    /// The amount added; negative at the end of a use.
    let amount: Int
    /// The end of the use.
    let end: Int
  }

  /// Times of starts are truncated to milliseconds, so a use may seem to begin this much before there was room for it.
  private static let truncation = 2000

  init(name: String) {
    self.name = name
  }

  mutating func use(_ amount: Int = 1, from start: Int, to end: Int) {
    guard end > start, amount > 0 else { return }
    changes.append(Change(time: start, amount: amount, end: end))
    changes.append(Change(time: end, amount: -amount, end: end))
  }

  /// Adds up what was used.
  ///
  /// Each change is counted once: a start at its own time or, if there was no room for it, at the end of another use.
  mutating func finish() {
    changes.sort { ($0.time, $0.amount, $0.end) < ($1.time, $1.amount, $1.end) }
    var (used, next) = (0, 0)
    // The starts without room, each with the end of another use ahead.
    var late: [Change] = []
    for (index, change) in changes.enumerated() {
      while next < changes.count, next <= index || changes[next].amount > 0 { next += 1 }
      /// Whether a start is counted now; otherwise at the next end, or later.
      func counts(_ start: Change) -> Bool {
        guard let capacity, used + start.amount > capacity, next < changes.count else {
          return true
        }
        let end = changes[next].time
        return end > change.time + UsageSeries.truncation || end >= start.end
      }
      var starts: [Change] = []
      if change.amount < 0 {
        used += change.amount
        swap(&starts, &late)
      } else {
        starts = [change]
      }
      for start in starts {
        if counts(start) { used += start.amount } else { late.append(start) }
      }
      note(used, at: change.time)
    }
    changes = []
    peak = points.reduce(0) { max($0, $1.used) }
  }

  private mutating func note(_ used: Int, at time: Int) {
    if points.last?.time == time {
      points[points.count - 1].used = used
    } else {
      points.append(Point(time: time, used: used))
    }
  }

  /// The time up to each change during which at least this amount was in use.
  func saturation(at amount: Int) -> Saturation {
    var (total, before) = (0, [Int]())
    before.reserveCapacity(points.count)
    for (index, point) in points.enumerated() {
      if index > 0, points[index - 1].used >= amount {
        total += point.time - points[index - 1].time
      }
      before.append(total)
    }
    return Saturation(series: self, amount: amount, before: before)
  }

  struct Saturation {
    fileprivate let series: UsageSeries
    fileprivate let amount: Int
    fileprivate let before: [Int]

    /// The time within a span.
    func time(of span: TimelineSpan) -> Int { time(until: span.end) - time(until: span.start) }

    /// The time up to a moment.
    private func time(until moment: Int) -> Int {
      let index = series.firstIndex(after: moment) - 1
      guard index >= 0 else { return 0 }
      let point = series.points[index]
      return before[index] + (point.used >= amount ? moment - point.time : 0)
    }
  }

  private func firstIndex(after time: Int) -> Int {
    var (low, high) = (0, points.count)
    while low < high {
      let middle = (low + high) / 2
      if points[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The mean amount in use in each of `count` equal intervals up to `end`.
  package func means(_ count: Int, until end: Int) -> [Double] {
    guard end > 0, count > 0 else { return [] }
    var sums = [Double](repeating: 0, count: count)
    let width = Double(end) / Double(count)
    for (index, point) in points.enumerated() where point.used > 0 {
      let stop = index + 1 < points.count ? points[index + 1].time : end
      var place = min(count - 1, Int(Double(point.time) / width))
      var from = Double(point.time)
      while from < Double(stop), place < count {
        let to = min(Double(stop), Double(place + 1) * width)
        sums[place] += max(0, to - from) * Double(point.used)
        (from, place) = (max(to, from), place + 1)
      }
    }
    return sums.map { $0 / width }
  }
}
