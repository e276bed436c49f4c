import Weft
import WeftPlatform
import WeftReporting

/// Interpretation of values.
extension ParsedArguments {
  /// Returns the value as one of the words that name the cases of a type.
  func word<Word>(of option: Option) throws(UsageError) -> Word?
  where Word: RawRepresentable<String> {
    guard let found = value(of: option) else { return nil }
    return try word(found, of: "\"\(option.name)\"", option.value)
  }

  /// The display of step output that `--output` or `-q` asks for.
  var outputMode: OutputMode {
    get throws(UsageError) {
      isGiven(.quiet) ? .failed : try word(of: .output) ?? .auto
    }
  }

  /// Returns the values of an option that may be repeated.
  func words<Word>(of option: Option) throws(UsageError) -> [Word]
  where Word: RawRepresentable<String> {
    var words: [Word] = []
    for found in values(of: option) {
      words.append(try word(found, of: "\"\(option.name)\"", option.value))
    }
    return words
  }

  func operandWord<Word>() throws(UsageError) -> Word? where Word: RawRepresentable<String> {
    guard let found = operands.first else { return nil }
    let operand = CommandDescription.named(command).operand?.value
    return try word(found, of: "the operand of \"weft \(command.rawValue)\"", operand)
  }

  private func word<Word>(
    _ found: String, of name: String, _ description: ValueDescription?
  ) throws(UsageError) -> Word where Word: RawRepresentable<String> {
    if let word = Word(rawValue: found) { return word }
    let words = description?.choices.map(\.word) ?? []
    let nearest = NearestName(words).nearest(to: found)
    throw .wrongValue(
      of: name, found: found, wanted: "one of " + words.joined(separator: ", "),
      help: nearest.asSuggestion, command)
  }

  func count(of option: Option, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let found = value(of: option) else { return nil }
    return try count(found, of: option, in: range)
  }

  /// Returns the values of an option that may be repeated.
  func counts(of option: Option, in range: ClosedRange<Int>) throws(UsageError) -> [Int] {
    var counts: [Int] = []
    for found in values(of: option) { counts.append(try count(found, of: option, in: range)) }
    return counts
  }

  private func count(
    _ found: String, of option: Option, in range: ClosedRange<Int>
  ) throws(UsageError) -> Int {
    let isPlain = found.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard isPlain, let number = Int(found), range.contains(number) else {
      throw .wrongValue(
        of: "\"\(option.name)\"", found: found,
        wanted: "a whole number from \(range.lowerBound) to \(range.upperBound)",
        help: "for example: \(option.name) \(range.lowerBound + 3)", command)
    }
    return number
  }

  func duration(of option: Option) throws(UsageError) -> Duration? {
    guard let found = value(of: option) else { return nil }
    do {
      return try DurationText.duration(from: found)
    } catch {
      throw .wrongValue(
        of: "\"\(option.name)\"", found: found, wanted: error.wanted, help: error.help, command)
    }
  }

  /// The environment variable that limits the size of the step cache.
  private static let cacheLimitVariable = "WEFT_CACHE_LIMIT"

  /// Returns the limit from the option, otherwise from the environment.
  func cacheLimit() throws(UsageError) -> ByteCount? {
    let option = Option.cacheLimit
    var (name, text) = ("\"\(option.name)\"", value(of: option))
    if text == nil, let set = ThisProcess.variable(ParsedArguments.cacheLimitVariable), !set.isEmpty
    {
      (name, text) = (ParsedArguments.cacheLimitVariable, set)
    }
    guard let text else { return nil }
    do { return try SizeText.size(from: text) } catch {
      throw .wrongValue(
        of: name, found: text, wanted: "a size such as 500MB or 2GiB",
        help: "a whole number and B, KB, MB, GB, TB, KiB, MiB, GiB or TiB", command)
    }
  }

  func eventsTarget(of option: Option) throws(UsageError) -> EventsTarget? {
    guard let found = value(of: option) else { return nil }
    if found == "-" { return .standardOutput }
    guard found.hasPrefix("fd:") else {
      if !found.isEmpty { return .file(found) }
      throw .wrongValue(
        of: "\"\(option.name)\"", found: found, wanted: "a file, \"-\" or \"fd:N\"",
        help: "to write them to standard output: \(option.name) -", command)
    }
    guard let number = Int32(found.dropFirst(3)), number >= 0, !found.contains("+") else {
      throw .wrongValue(
        of: "\"\(option.name)\"", found: found,
        wanted: "the number of an open descriptor after \"fd:\"",
        help: "for a file of that name, write \"./\(found)\"", command)
    }
    return .descriptor(number)
  }
}

extension DurationText.ParseError {
  fileprivate var wanted: String {
    switch self {
    case .malformed, .withoutUnit, .lastWithoutUnit, .unknownUnit, .unitOutOfOrder, .fraction:
      "a duration such as 90s or 1h30m"
    case .negative, .zero: "a time greater than zero"
    case .tooLong: "at most " + DurationText.text(of: WorkflowLimits.longestDuration)
    }
  }

  fileprivate var help: String {
    switch self {
    case .withoutUnit(let number): "for seconds, write \"\(number)s\""
    case .fraction(let text?): "write \(text)"
    case .malformed, .lastWithoutUnit, .unknownUnit, .unitOutOfOrder, .fraction(nil):
      "whole numbers, each with its unit, the largest first: d, h, m, s, ms"
    case .negative, .zero, .tooLong: "omit --timeout to use the workflow's own limit"
    }
  }
}

extension ParsedArguments {
  /// The selection of steps.
  var choice: StepChoice {
    StepChoice(
      only: values(of: .only), skip: values(of: .skip), from: values(of: .from))
  }
}
