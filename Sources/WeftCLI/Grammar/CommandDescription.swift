/// The names of all commands.
enum CommandName: String, Sendable, CaseIterable {
  case run, resume, approve, cancel, runs, show, logs, report, diff, list, check, fmt, graph,
    why, estimate, eval, lsp,
    test,
    reap, clean,
    schema, `init`, completions, help, version
}

/// The description of a command for parsing, help and completions.
struct CommandDescription: Sendable {
  let name: CommandName
  /// A clause for the list of commands: lower case, no full stop.
  let summary: String
  /// The paragraphs of the command's help; lines that begin with a space are kept as they are.
  let details: [String]
  /// The operands in order; optional ones are filled from the first.
  let operands: [Operand]
  /// The options, except `--help`, which every command has.
  let ownOptions: [Option]
  /// The sets of options that exclude each other.
  let contradictions: [[Option]]
  /// Its names in other programs, and their options for it; only suggested, never accepted.
  let elsewhere: [String]

  init(
    _ name: CommandName, _ summary: String, details: [String], operand: Operand? = nil,
    operands: [Operand] = [], options: [Option] = [], contradictions: [[Option]] = [],
    elsewhere: [String] = []
  ) {
    self.name = name
    self.summary = summary
    self.details = details
    self.operands = (operand.map { [$0] } ?? []) + operands
    self.ownOptions = options
    self.contradictions = contradictions
    self.elsewhere = elsewhere
  }

  var options: [Option] { ownOptions + [.help] }

  /// The first operand; the only one of most commands.
  var operand: Operand? { operands.first }

  /// The permitted number of operands.
  var operandCounts: ClosedRange<Int> {
    let ranges = operands.map(\.count.range)
    let most = ranges.map(\.upperBound)
    return ranges.reduce(0) {
      $0 + $1.lowerBound
    }...(most.contains(.max) ? .max : most.reduce(0, +))
  }

  /// Whether all after `--` is the value of `run.args`, instead of operands.
  var passesArguments: Bool { name != .resume && ownOptions.contains(.input) }

  /// The operands for help, with the arguments of a run.
  var explainedOperands: [Operand] { operands + (passesArguments ? [.argument] : []) }

  /// The usage line, such as `weft run [OPTION]... FILE`.
  var usage: String {
    let parts = [
      "weft", name.rawValue, ownOptions.isEmpty ? nil : "[OPTION]...",
    ]
    let rest = passesArguments ? ["[-- ARG...]"] : []
    return (parts.compactMap(\.self) + operands.map(\.synopsis) + rest).joined(separator: " ")
  }

  static func named(_ name: CommandName) -> CommandDescription {
    all.first { $0.name == name }!
  }
}

/// The description of an option for parsing, help and completions.
struct Option: Sendable, Hashable {
  /// The spellings with dashes, the one for messages last: `-h`, `--help`.
  let spellings: [String]
  /// `nil` for a flag.
  let value: ValueDescription?
  /// A clause: lower case, no full stop.
  let help: String
  /// Its names in other programs; only suggested, never accepted.
  let elsewhere: [String]

  init(
    _ spellings: String..., value: ValueDescription? = nil, help: String, elsewhere: [String] = []
  ) {
    self.spellings = spellings
    self.value = value
    self.help = help
    self.elsewhere = elsewhere
  }

  /// The name in messages.
  var name: String { spellings.last! }

  /// The synopsis, such as `-j N` or `-h, --help`.
  var synopsis: String {
    spellings.joined(separator: ", ") + (value.map { " " + $0.name } ?? "")
  }
}

/// The description of a value, of an option or as an operand.
struct ValueDescription: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    /// A value that nothing can propose: a number, a duration, a size, a date, an address.
    case text
    case file
    /// An existing file; files with one of the suffixes are proposed first.
    case existingFile(suffixes: [String])
    case directory
    /// A name that depends on files or runs.
    case names(ProposedNames.Kind)
    /// One of these words.
    case choice([Choice])
  }

  struct Choice: Sendable, Hashable {
    let word: String
    /// A clause: lower case, no full stop. `nil` if the word explains itself.
    let help: String?

    init(_ word: String, _ help: String? = nil) {
      self.word = word
      self.help = help
    }
  }

  /// The name in usage lines: `FILE`, `N`.
  let name: String
  let kind: Kind

  /// The permitted words, if there is a fixed set.
  var choices: [Choice] {
    if case .choice(let choices) = kind { choices } else { [] }
  }

  static let workflowFile = ValueDescription(
    name: "FILE", kind: .existingFile(suffixes: [".json", ".jsonc"]))

  /// Returns a value that is one of these words, and named after all of them: `json|sarif`.
  static func oneOf(_ choices: Choice...) -> ValueDescription {
    ValueDescription(
      name: choices.map(\.word).joined(separator: "|"), kind: .choice(choices))
  }
}

/// An argument without a dash.
struct Operand: Sendable, Hashable {
  static let workflowHelp =
    "workflow file, or NAME for workflows/NAME.json[c]; - reads standard input; default: the nearest "
    + "weft.json or workflow.json, also with the ending .jsonc, here or above"

  enum Count: Sendable, Hashable {
    case one
    case atMostOne
    case oneOrMore
    case any

    var range: ClosedRange<Int> {
      switch self {
      case .one: 1...1
      case .atMostOne: 0...1
      case .oneOrMore: 1...Int.max
      case .any: 0...Int.max
      }
    }
  }

  /// A word after `--`.
  static let argument = Operand(
    value: ValueDescription(name: "ARG", kind: .text), count: .any,
    help: "an element of the array ${{ run.args }}; may begin with a dash")

  let value: ValueDescription
  let count: Count
  /// A clause: lower case, no full stop.
  let help: String
  /// The options of other programs that take it; only suggested, never accepted.
  var elsewhere: [String] { value == .workflowFile ? ["-f", "--file", "--workflow"] : [] }

  /// The synopsis, such as `FILE`, `[COMMAND]` or `FILE...`.
  var synopsis: String {
    switch count {
    case .one: value.name
    case .atMostOne: "[\(value.name)]"
    case .oneOrMore: value.name + "..."
    case .any: "[\(value.name)]..."
    }
  }
}
