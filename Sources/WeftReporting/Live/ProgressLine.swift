import WeftDefinition
import WeftEvents

/// A line such as `━━━━━━────── 37/100 · 4 running · 3.1/s · 20 s left`, for the width that there is.
///
/// If it is narrow, the note goes first, then the details from the last one, then the bar; the count stays.
struct ProgressLine: Sendable, Hashable {
  /// The part that is done; without it there is no bar.
  var fraction: Double?
  /// The amount.
  var count: String
  /// Facts, the most important first.
  var details: [String] = []
  /// The present activity, in foreign words.
  var note: String?

  /// The widest bar, and the width from which there is one.
  private static let barColumns = 20
  private static let leastColumns = 24
  /// The narrowest note.
  private static let noteColumns = 8

  func text(columns: Int, palette: Palette, text: DisplayText) -> String {
    var line = bar(columns: columns, palette)
    var used = line.columns + DisplayText.columns(of: count)
    line.text += count
    guard used <= columns else { return text.cut(count, columns: columns) }
    for detail in details {
      let width = DisplayText.columns(of: palette.separator + detail)
      guard used + width <= columns else { return line.text }
      line.text += palette.separator + detail
      used += width
    }
    guard let note, columns - used - 2 >= ProgressLine.noteColumns else { return line.text }
    return line.text + "  " + text.cut(note, columns: columns - used - 2)
  }

  /// Returns the bar, followed by a space.
  private func bar(columns: Int, _ palette: Palette) -> (text: String, columns: Int) {
    guard let fraction, columns >= ProgressLine.leastColumns else { return ("", 0) }
    let width = min(ProgressLine.barColumns, columns / 3)
    let bar = palette.bar(fraction, columns: width)
    return (bar + " ", width + 1)
  }
}

extension Palette {
  /// Returns a bar of this width that is filled in part. It is full only when all is done, and empty only when nothing
  /// is.
  func bar(_ fraction: Double, columns: Int) -> String {
    let (open, full, rest, close) = usesUnicode ? ("", "━", "─", "") : ("[", "#", "-", "]")
    let room = max(1, columns - open.count - close.count)
    var filled = Int(fraction * Double(room))
    if fraction > 0 { filled = max(1, filled) }
    filled = min(room, max(0, filled))
    return open + painted(String(repeating: full, count: filled), .good)
      + painted(String(repeating: rest, count: room - filled), .faint) + close
  }
}

extension ProgressLine {
  /// The progress that a step reports.
  init(_ progress: StepProgress, _ pace: RateEstimate, at now: Duration) {
    fraction = progress.fraction
    switch progress.unit {
    case .items: count = progress.total.map { "\(progress.done)/\($0)" } ?? "\(progress.done)"
    case .bytes:
      let done = ShownSize.text(progress.done)
      count = progress.total.map { "\(done) of \(ShownSize.text($0))" } ?? done
    }
    details = ShownRate.details(pace, unit: progress.unit, of: progress.total, at: now)
    note = progress.text
  }

  /// The progress of a loop.
  ///
  /// - Parameter running: The number of its elements that are running.
  init(_ elements: ElementCount, running: Int, _ pace: RateEstimate, at now: Duration) {
    fraction = elements.all > 0 ? Double(elements.done) / Double(elements.all) : nil
    count = "\(elements.done)/\(elements.all)"
    if running > 0 { details.append("\(running) running") }
    if elements.failed > 0 { details.append("\(elements.failed) failed") }
    details += ShownRate.details(pace, unit: .items, of: elements.all, at: now)
  }
}

/// Formats how fast something happens.
enum ShownRate {
  /// Returns `3.1/s`, `12/min`, `84 kB/s`; `nil` for less than one in ten minutes.
  static func text(_ perSecond: Double, unit: StepProgress.Unit) -> String? {
    if unit == .bytes { return "\(ShownSize.text(Int(min(perSecond, 1e15))))/s" }
    if perSecond >= 1 { return "\(number(min(perSecond, 1e15)))/s" }
    return perSecond * 600 < 1 ? nil : "\(number(perSecond * 60))/min"
  }

  /// Returns the rate and the remaining time, as far as they are known.
  static func details(
    _ pace: RateEstimate, unit: StepProgress.Unit, of total: Int?, at now: Duration
  ) -> [String] {
    guard let rate = pace.perSecond(at: now).flatMap({ text($0, unit: unit) }) else { return [] }
    guard let left = total.flatMap({ pace.left(until: $0, at: now) }), left >= .milliseconds(500)
    else { return [rate] }
    return [rate, "\(ShownDuration.coarse(left + .milliseconds(500))) left"]
  }

  /// One decimal below ten.
  private static func number(_ value: Double) -> String {
    guard value < 9.95 else { return String(Int(value.rounded())) }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

/// Estimates how fast an amount grows, and when it will have grown to the whole.
///
/// Times come from the caller. Recent growth counts more: what is older than ``memory`` fades. Growth before the first
/// observation does not count, such as the elements that a resumed loop has from an earlier engine.
struct RateEstimate: Sendable {
  /// The growth, and the seconds in which it happened.
  private var growth = 0.0
  private var seconds = 0.0
  private var last: (done: Int, at: Duration)?

  /// The seconds after which an observation counts half.
  private static let memory = 15.0
  /// The seconds that must have been observed before there is an estimate.
  private static let shortest = 1.0
  /// The longest time that is worth showing.
  private static let longest = 100 * 24 * 3600.0

  /// Takes the present amount. An amount that has become smaller starts over.
  mutating func observe(_ done: Int, at now: Duration) {
    guard let last, done >= last.done else {
      (growth, seconds, last) = (0, 0, (done, now))
      return
    }
    let passed = (now - last.at) / .seconds(1)
    guard passed > 0 else { return }
    let share = RateEstimate.memory / (RateEstimate.memory + passed)
    growth = growth * share + Double(done - last.done)
    seconds = seconds * share + passed
    self.last = (done, now)
  }

  /// The growth per second; `nil` while too little is known.
  func perSecond(at now: Duration) -> Double? {
    guard let last, growth > 0 else { return nil }
    let all = seconds + max(0, (now - last.at) / .seconds(1))
    return all < RateEstimate.shortest ? nil : growth / all
  }

  /// The time until the amount is `total`; `nil` while too little is known, or if it is very long.
  func left(until total: Int, at now: Duration) -> Duration? {
    guard let last, let rate = perSecond(at: now) else { return nil }
    let left = Double(max(0, total - last.done)) / rate - (now - last.at) / .seconds(1)
    return left < RateEstimate.longest ? .seconds(max(0, left)) : nil
  }
}
