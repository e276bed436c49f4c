/// Something that the command line may say with a dash: all that parsing, help and completions know
/// of it.
struct Option: Sendable, Hashable {
  /// With their dashes, the one that messages use last: `-h`, `--help`.
  let spellings: [String]
  /// `nil` for a flag.
  let value: ValueDescription?
  /// A clause: lower case, no full stop.
  let help: String
  /// What other programs call it; only ever suggested, never understood.
  let elsewhere: [String]

  init(
    _ spellings: String..., value: ValueDescription? = nil, help: String, elsewhere: [String] = []
  ) {
    self.spellings = spellings
    self.value = value
    self.help = help
    self.elsewhere = elsewhere
  }

  /// How messages call it.
  var name: String { spellings.last! }

  /// `-j N`, `-h, --help`.
  var synopsis: String {
    spellings.joined(separator: ", ") + (value.map { " " + $0.name } ?? "")
  }
}

/// What stands where the grammar wants a value, of an option or as an operand.
struct ValueDescription: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case text
    case file
    /// A file that exists; files whose name ends so are proposed first.
    case existingFile(suffix: String)
    case directory
    /// The id of a run, or the beginning of one.
    case recordedRun
    /// A step of the workflow that the line names, else of the recorded run.
    case step
    /// `NAME=VALUE`, of an input of that workflow.
    case input
    /// One of these words.
    case choice([Choice])
  }

  struct Choice: Sendable, Hashable {
    let word: String
    /// A clause: lower case, no full stop. `nil` where the word says it all.
    let help: String?

    init(_ word: String, _ help: String? = nil) {
      self.word = word
      self.help = help
    }
  }

  /// As it stands in usage lines: `FILE`, `N`.
  let name: String
  let kind: Kind

  /// The words, where only certain words will do.
  var choices: [Choice] {
    if case .choice(let choices) = kind { choices } else { [] }
  }

  static let workflowFile = ValueDescription(name: "FILE", kind: .existingFile(suffix: ".json"))

  /// A value that is one of these words, and is called by all of them: `json|sarif`.
  static func oneOf(_ choices: Choice...) -> ValueDescription {
    ValueDescription(
      name: choices.map(\.word).joined(separator: "|"), kind: .choice(choices))
  }
}

/// What a command takes without a dash.
struct Operand: Sendable, Hashable {
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

  let value: ValueDescription
  let count: Count
  /// A clause: lower case, no full stop.
  let help: String

  /// `FILE`, `[COMMAND]`, `FILE...`
  var synopsis: String {
    switch count {
    case .one: value.name
    case .atMostOne: "[\(value.name)]"
    case .oneOrMore: value.name + "..."
    case .any: "[\(value.name)]..."
    }
  }
}
