/// The names of all commands.
enum CommandName: String, Sendable, CaseIterable {
  case run, resume, approve, cancel, runs, show, logs, check, graph, why, eval, reap, clean, schema,
    `init`, completions, help, version
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

  init(
    _ name: CommandName, _ summary: String, details: [String], operand: Operand? = nil,
    operands: [Operand] = [], options: [Option] = [], contradictions: [[Option]] = []
  ) {
    self.name = name
    self.summary = summary
    self.details = details
    self.operands = (operand.map { [$0] } ?? []) + operands
    self.ownOptions = options
    self.contradictions = contradictions
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

  /// The usage line, such as `weft run [OPTION]... FILE`.
  var usage: String {
    let parts = [
      "weft", name.rawValue, ownOptions.isEmpty ? nil : "[OPTION]...",
    ]
    return (parts.compactMap(\.self) + operands.map(\.synopsis)).joined(separator: " ")
  }

  static func named(_ name: CommandName) -> CommandDescription {
    all.first { $0.name == name }!
  }
}
