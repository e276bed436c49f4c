/// Parses command lines like getopt_long(3): options and operands in any order, `--` before operands or before the
/// arguments of a run only, `-j4` or `-j 4`, `--format=json` or `--format json`, combined flags (`-kj4`).
///
/// Unlike getopt_long, it accepts no abbreviations: a script with `--str` would break when another option with that
/// prefix is added.
struct ArgumentParser {
  /// - Parameter arguments: The arguments without the program's name.
  static func parse(_ arguments: [String]) throws(UsageError) -> ParsedArguments {
    guard let first = arguments.first else { throw .noCommand }
    if Option.help.spellings.contains(first) { return ParsedArguments(command: .help) }
    if Option.version.spellings.contains(first) { return ParsedArguments(command: .version) }
    guard let name = CommandName(rawValue: first) else {
      throw first.hasPrefix("-") ? .unknownTopOption(first) : .unknownCommand(first)
    }
    var parser = ArgumentParser(name, arguments.dropFirst())
    return try parser.parse()
  }

  private let command: CommandDescription
  private var rest: ArraySlice<String>
  private var parsed: ParsedArguments

  private init(_ name: CommandName, _ arguments: ArraySlice<String>) {
    command = .named(name)
    rest = arguments
    parsed = ParsedArguments(command: name)
  }

  private mutating func parse() throws(UsageError) -> ParsedArguments {
    while let word = rest.popFirst() {
      try parse(word)
      if parsed.isGiven(.help) { return help() }
    }
    try checkOperands()
    try checkContradictions()
    return parsed
  }

  private mutating func parse(_ word: String) throws(UsageError) {
    if word == "--" {
      if command.passesArguments {
        parsed.passed = Array(rest)
      } else {
        for operand in rest { parsed.add(operand: operand) }
      }
      rest = []
    } else if word.hasPrefix("--") {
      try parse(longOption: word)
    } else if word.hasPrefix("-"), word != "-" {
      try parse(shortOptions: word)
    } else {
      parsed.add(operand: word)
    }
  }

  /// Returns help for this command; for `run`, about the named file. Ignores other errors.
  private mutating func help() -> ParsedArguments {
    while command.name == .run, let word = rest.popFirst() { try? parse(word) }
    if parsed.operands.count == 1, command.name == .run { return parsed }
    var help = ParsedArguments(command: .help)
    help.add(operand: command.name.rawValue)
    return help
  }

  private mutating func parse(longOption word: String) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let option = try option(spelled: String(parts[0]))
    try add(option, attached: parts.count > 1 ? String(parts[1]) : nil)
  }

  private mutating func parse(shortOptions word: String) throws(UsageError) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      let option = try option(spelled: "-\(letter)")
      if option.value != nil {
        return try add(option, attached: letters.isEmpty ? nil : String(letters))
      }
      parsed.add(option)
    }
  }

  private mutating func add(_ option: Option, attached: String?) throws(UsageError) {
    switch (option.value, attached) {
    case (nil, nil): parsed.add(option)
    case (nil, let value?): throw .unwantedValue(of: option, value, command.name)
    case (.some, let value?): parsed.add(option, value: value)
    case (.some, nil):
      guard let next = rest.popFirst() else { throw .missingValue(of: option, command.name) }
      parsed.add(option, value: next)
    }
  }

  private func option(spelled name: String) throws(UsageError) -> Option {
    guard let option = command.options.first(where: { $0.spellings.contains(name) }) else {
      throw .unknownOption(name, of: command.name)
    }
    return option
  }

  private func checkOperands() throws(UsageError) {
    let wanted = command.operandCounts
    if parsed.operands.count < wanted.lowerBound { throw .missingOperand(command.name) }
    if parsed.operands.count > wanted.upperBound {
      let isElsewhere = parsed.isGiven(.directory)
      throw .unwantedOperand(
        parsed.operands[wanted.upperBound],
        after: isElsewhere ? [] : Array(parsed.operands[..<wanted.upperBound]), command.name)
    }
  }

  private func checkContradictions() throws(UsageError) {
    for options in command.contradictions {
      let given = options.filter(parsed.isGiven)
      if given.count > 1 { throw .contradiction(given[0], given[1], command.name) }
    }
  }
}

/// A command line parsed by the grammar, with values not yet interpreted.
struct ParsedArguments: Sendable, Hashable {
  let command: CommandName
  private(set) var operands: [String] = []
  /// The arguments that the run gets.
  fileprivate(set) var passed: [String] = []
  private var options: [Option: [String]] = [:]

  init(command: CommandName) {
    self.command = command
  }

  func isGiven(_ option: Option) -> Bool { options[option] != nil }

  /// Returns the value of an option, the last one if it is repeated; `nil` if it is not given.
  func value(of option: Option) -> String? { options[option]?.last }

  /// Returns all values of an option, in order.
  func values(of option: Option) -> [String] { options[option] ?? [] }

  mutating func add(_ option: Option, value: String = "") {
    options[option, default: []].append(value)
  }

  mutating func add(operand: String) { operands.append(operand) }

  func replacing(operands: [String]) -> ParsedArguments {
    var replaced = self
    replaced.operands = operands
    return replaced
  }

  /// Returns the arguments with the values of options changed.
  func mappingValues(_ change: (Option, String) -> String) -> ParsedArguments {
    var mapped = self
    for (option, values) in options { mapped.options[option] = values.map { change(option, $0) } }
    return mapped
  }
}
