/// The progress that a running step reports: by lines `n/m text` in the file `$WEFT_PROGRESS`, by
/// `ActionContext.report(_:)`, or by the bytes of a download.
public struct StepProgress: Sendable, Hashable {
  /// The things that are counted.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    /// Whatever the step counts.
    case items
    case bytes
  }

  /// The amount that is done; may exceed ``total`` if the step's estimate was too low.
  public package(set) var done: Int
  /// The whole amount, at least 1; `nil` if it is not known.
  public package(set) var total: Int?
  public package(set) var unit: Unit
  /// The present activity, in the step's words; at most ``textLimit`` characters.
  public package(set) var text: String?

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - done: Clamped to 0 and the largest amount that events can hold, 2⁶⁰.
  ///   - total: Clamped likewise; unknown if it is less than 1.
  ///   - text: Truncated to ``textLimit`` characters; `nil` if it is empty.
  public init(_ done: Int, of total: Int? = nil, unit: Unit = .items, text: String? = nil) {
    let limit = RecordLimits.amounts.upperBound
    self.done = min(max(0, done), limit)
    self.total = total.flatMap { $0 < 1 ? nil : min($0, limit) }
    self.unit = unit
    self.text = text.flatMap { $0.isEmpty ? nil : String($0.prefix(StepProgress.textLimit)) }
  }

  /// The maximum number of characters of ``text``.
  public static let textLimit = 200

  /// The part that is done, from 0 to 1; `nil` if the whole is not known.
  public var fraction: Double? {
    total.map { min(1, Double(done) / Double($0)) }
  }
}

extension StepProgress: Payload {
  package static var blank: StepProgress { StepProgress(0) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.amount("done", &done)
    try coder.number(
      "total", &total, in: 1...RecordLimits.amounts.upperBound, "an amount of at least 1")
    var isBytes = unit == .bytes
    try coder.flag("bytes", &isBytes)
    if Coder.isReading { unit = isBytes ? .bytes : .items }
    try coder.code("text", &text)
  }
}
