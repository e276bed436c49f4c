import WeftDiagnostics

/// Messages about malformed durations, ids and sizes.

extension DurationText.Fault {
  static let units = "the units are d, h, m, s and ms, as in \"1h30m\""

  /// - Parameter allowsZero: Whether the duration may be zero, unlike a limit.
  func expectation(allowsZero: Bool) -> String {
    switch self {
    case .withoutUnit(let number): "expected a duration like \"\(shortened(number))s\""
    case .lastWithoutUnit(let number): "expected a unit after \(shortened(number))"
    case .malformed, .unknownUnit, .fraction: "expected a duration like \"30s\""
    case .unitOutOfOrder: "expected the units from the largest to the smallest, each once"
    case .negative where allowsZero: "expected a duration, or \"0s\" for none"
    case .negative, .zero: "expected a duration greater than zero"
    case .tooLong: "expected \(DurationText.text(of: WorkflowLimits.longestDuration)) at most"
    }
  }

  func help(allowsZero: Bool) -> String? {
    switch self {
    case .unknownUnit(let unit): "\(quoted(unit)) is not a unit; \(DurationText.Fault.units)"
    case .fraction: "write whole numbers: \"1500ms\" for one and a half seconds"
    case .malformed, .withoutUnit, .lastWithoutUnit, .unitOutOfOrder: DurationText.Fault.units
    case .negative where allowsZero, .tooLong where allowsZero: nil
    case .negative, .zero, .tooLong: "leave the key out for no limit"
    }
  }
}

extension StepID.Fault {
  static let rule =
    "an id is letters, digits, \"_\" and \"-\", \(StepID.longest) at most, and begins with a letter "
    + "or \"_\"; a \"name\" can be any text"

  var complaint: String {
    switch self {
    case .empty: "is empty"
    case .tooLong(let bytes): "has \(bytes) characters"
    case .beginning(let character): "begins with \(quoted(String(character)))"
    case .character(let character): "has \(named(character)) in it"
    }
  }
}

extension SizeText.Fault {
  static let units = "the units are GB, MB, KB, GiB, MiB, KiB and B, as in \"64KiB\""

  var expectation: String {
    switch self {
    case .malformed, .withoutUnit, .unknownUnit, .fraction: "expected a size like \"10MB\""
    case .negative, .zero: "expected a size larger than nothing"
    case .tooLarge: "expected \(WorkflowLimits.largestSize) at most"
    }
  }

  var help: String? {
    switch self {
    case .withoutUnit(let number): "write \"\(shortened(number))B\"; \(SizeText.Fault.units)"
    case .unknownUnit(let unit, let nearest?):
      "\(quoted(unit)) is not a unit, did you mean \"\(nearest)\"?"
    case .unknownUnit(let unit, nil): "\(quoted(unit)) is not a unit; \(SizeText.Fault.units)"
    case .fraction: "write whole numbers: \"1536MiB\" for one and a half GiB"
    case .malformed: SizeText.Fault.units
    case .negative, .zero, .tooLarge: nil
    }
  }
}
