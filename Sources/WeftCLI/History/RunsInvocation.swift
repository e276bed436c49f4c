import WeftDefinition
import WeftPlatform
import WeftRecord

/// The arguments of `weft runs`.
struct RunsInvocation: Sendable, Hashable {
  /// Empty for any state.
  let states: Set<RecordedState>
  /// The name of the file or workflow; `nil` for any.
  let file: String?
  /// Nanoseconds since 1970; `nil` for no limit.
  let since: Int64?
  let limit: Int?
  let format: RunListFormat
  let stateDirectory: String?

  init(_ parsed: ParsedArguments) throws(UsageError) {
    states = Set(try parsed.words(of: .runState))
    file = parsed.value(of: .runFile)
    since = try parsed.moment(of: .since, now: WallClock.now.nanoseconds)
    limit = try parsed.count(of: .runLimit, in: 1...1_000_000)
    format = try parsed.word(of: .runListFormat) ?? .table
    stateDirectory = parsed.value(of: .records)
  }
}

enum RunListFormat: String, CaseIterable {
  case table, json, csv
}

extension ParsedArguments {
  /// Parses a time: a date, RFC 3339, or the duration since then.
  func moment(of option: Option, now: Int64) throws(UsageError) -> Int64? {
    guard let found = value(of: option) else { return nil }
    if let duration = try? DurationText.duration(from: found) {
      return Timestamp(nanoseconds: now).advanced(by: .zero - duration).nanoseconds
    }
    for text in [found, found + "T00:00:00Z"] {
      if let moment = try? MomentText.moment(from: text) { return moment.nanoseconds }
    }
    throw .wrongValue(
      of: "\"\(option.name)\"", found: found,
      wanted: "a duration such as 2d or 1h30m, a date, or a date and time with its offset from UTC",
      help: "for example: \(option.name) 2d, \(option.name) 2026-11-20, "
        + "\(option.name) 2026-11-20T09:00:00Z", command)
  }
}
