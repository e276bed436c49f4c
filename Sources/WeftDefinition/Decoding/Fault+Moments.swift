import WeftDiagnostics

/// Messages about malformed moments and rates.

extension MomentText.Fault {
  static let example = "2026-11-21T09:00:00Z"

  var expectation: String {
    switch self {
    case .malformed, .withoutTime: "expected a moment like \"\(MomentText.Fault.example)\""
    case .withoutOffset: "expected \"Z\" or an offset at its end"
    case .month(let month): "and there is no month \(month)"
    case .day(let day, let last): "and that month has no day \(day), it ends with the \(last)th"
    case .hour(let hour): "and there is no hour \(hour)"
    case .minute(let minute): "and there is no minute \(minute)"
    case .second(let second): "and there is no second \(second)"
    case .leapSecond: "and clocks of computers have no leap seconds"
    case .offset: "and an offset is from -23:59 to +23:59"
    case .outOfRange: "expected one of the years 1678 to 2261"
    }
  }

  var help: String? {
    switch self {
    case .malformed:
      "a moment is written as RFC 3339 has it, such as \"\(MomentText.Fault.example)\""
    case .withoutTime: "add the time of the day and an offset, such as \"T09:00:00Z\""
    case .withoutOffset: "add \"Z\" for UTC, or an offset such as \"+01:00\""
    case .hour(24): "midnight is 00:00:00 of the next day"
    case .leapSecond: "write the second after it: 00 of the next minute"
    case .month, .day, .hour, .minute, .second, .offset, .outOfRange: nil
    }
  }
}

extension Rate.Fault {
  var expectation: String {
    switch self {
    case .malformed: "expected a rate like \"30/1m\""
    case .count: "expected from 1 to \(WorkflowLimits.poolSlots) before the slash"
    case .period(_, let fault): "\(fault.expectation(allowsZero: false)) after the slash"
    }
  }

  var help: String? {
    switch self {
    case .malformed: "write how many, a slash, and the time in which: \"30/1m\""
    case .count: nil
    case .period(let text, .withoutUnit), .period(let text, .malformed):
      "\(quoted(text)) says no time; \(DurationText.Fault.units)"
    case .period(_, .zero): "leave the rate out for none"
    case .period(_, let fault): fault.help(allowsZero: false)
    }
  }
}
