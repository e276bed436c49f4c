import WeftDiagnostics

/// Messages about malformed durations, ids, sizes, moments and rates.

extension DurationText.ParseError {
  static let units = "the units are d, h, m, s and ms, as in \"1h30m\""

  /// - Parameter allowsZero: Whether the duration may be zero, unlike a limit.
  func expectation(allowsZero: Bool) -> String {
    switch self {
    case .withoutUnit(let number): "expected a duration like \"\(shortened(number))s\""
    case .lastWithoutUnit(let number): "expected a unit after \(shortened(number))"
    case .malformed, .unknownUnit, .fraction: "expected a duration like \"30s\""
    case .unitOutOfOrder: "expected each unit once, from the largest to the smallest"
    case .negative where allowsZero: "expected a duration, or \"0s\" for none"
    case .negative, .zero: "expected a duration greater than zero"
    case .tooLong: "expected at most \(DurationText.text(of: WorkflowLimits.longestDuration))"
    }
  }

  func help(allowsZero: Bool) -> String? {
    switch self {
    case .unknownUnit(let unit): "\(quoted(unit)) is not a unit; \(DurationText.ParseError.units)"
    case .fraction(let text?): "write \"\(text)\""
    case .fraction(nil): "write whole numbers: \"1500ms\" for one and a half seconds"
    case .malformed, .withoutUnit, .lastWithoutUnit, .unitOutOfOrder: DurationText.ParseError.units
    case .negative where allowsZero, .tooLong where allowsZero: nil
    case .negative, .zero, .tooLong: "omit the key for no limit"
    }
  }
}

extension StepID.ParseError {
  static let rule =
    "an id has at most \(StepID.longest) characters: letters, digits, \"_\" and \"-\"; it begins "
    + "with a letter or \"_\"; a \"name\" can be any text"

  var complaint: String {
    switch self {
    case .empty: "is empty"
    case .tooLong(let bytes): "has \(bytes) characters"
    case .beginning(let character): "begins with \(quoted(String(character)))"
    case .character(let character): "contains \(named(character))"
    }
  }
}

extension SizeText.ParseError {
  static let units = "the units are GB, MB, KB, GiB, MiB, KiB and B, as in \"64KiB\""

  var expectation: String {
    switch self {
    case .malformed, .withoutUnit, .unknownUnit, .fraction: "expected a size like \"10MB\""
    case .negative, .zero: "expected a size greater than zero"
    case .tooLarge: "expected at most \(WorkflowLimits.largestSize)"
    }
  }

  var help: String? {
    switch self {
    case .withoutUnit(let number): "write \"\(shortened(number))B\"; \(SizeText.ParseError.units)"
    case .unknownUnit(let unit, let nearest?):
      "\(quoted(unit)) is not a unit, did you mean \"\(nearest)\"?"
    case .unknownUnit(let unit, nil): "\(quoted(unit)) is not a unit; \(SizeText.ParseError.units)"
    case .fraction: "write a whole number, such as \"1536MiB\" for one and a half GiB"
    case .malformed: SizeText.ParseError.units
    case .negative, .zero, .tooLarge: nil
    }
  }
}

extension MomentText.ParseError {
  static let example = "2026-11-21T09:00:00Z"

  var expectation: String {
    switch self {
    case .malformed, .withoutTime: "expected a time like \"\(MomentText.ParseError.example)\""
    case .withoutOffset: "expected \"Z\" or an offset at the end"
    case .month(let month): "but there is no month \(month)"
    case .day(let day, let last): "but that month has \(last) days, not \(day)"
    case .hour(let hour): "but there is no hour \(hour)"
    case .minute(let minute): "but there is no minute \(minute)"
    case .second(let second): "but there is no second \(second)"
    case .leapSecond: "but leap seconds are not supported"
    case .offset: "but an offset is from -23:59 to +23:59"
    case .outOfRange: "expected a year from 1678 to 2261"
    }
  }

  var help: String? {
    switch self {
    case .malformed:
      "write a time as in RFC 3339, such as \"\(MomentText.ParseError.example)\""
    case .withoutTime: "add the time of day and an offset, such as \"T09:00:00Z\""
    case .withoutOffset: "add \"Z\" for UTC, or an offset such as \"+01:00\""
    case .hour(24): "midnight is 00:00:00 of the next day"
    case .leapSecond: "write the second after it: 00 of the next minute"
    case .month, .day, .hour, .minute, .second, .offset, .outOfRange: nil
    }
  }
}

extension Rate.ParseError {
  var expectation: String {
    switch self {
    case .malformed: "expected a rate like \"30/1m\""
    case .count: "expected a count from 1 to \(WorkflowLimits.poolSlots) before the slash"
    case .period(_, let fault): "\(fault.expectation(allowsZero: false)) after the slash"
    }
  }

  var help: String? {
    switch self {
    case .malformed: "write a count, a slash and a period: \"30/1m\""
    case .count: nil
    case .period(let text, .withoutUnit), .period(let text, .malformed):
      "\(quoted(text)) is not a duration; \(DurationText.ParseError.units)"
    case .period(_, .zero): "omit \"rate\" for no limit"
    case .period(_, let fault): fault.help(allowsZero: false)
    }
  }
}

// MARK: Helpers

/// A character and, where its appearance may deceive, its code points.
func named(_ character: Character) -> String {
  character.isASCII && character != " "
    ? quoted(String(character)) : "\(quoted(String(character))) (\(scalars(String(character))))"
}

/// The first 20 code points of the text, such as `U+0065 U+0301`.
func scalars(_ text: String) -> String {
  text.unicodeScalars.prefix(20).map { scalar in
    let hex = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }.joined(separator: " ")
}

/// Whether the text is a whole number of plausible size.
func isCount(_ text: String) -> Bool {
  (1...9).contains(text.utf8.count)
    && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}
