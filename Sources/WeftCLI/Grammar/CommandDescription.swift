/// The commands by name; what is not here does not exist.
enum CommandName: String, Sendable, CaseIterable {
  case run, resume, approve, cancel, runs, show, logs, check, graph, why, eval, reap, clean, schema,
    `init`, completions, help, version
}

/// All that parsing, help and completions know of a command.
struct CommandDescription: Sendable {
  let name: CommandName
  /// A clause for the list of commands: lower case, no full stop.
  let summary: String
  /// Paragraphs for the command's own help; lines that begin with a space are kept as they are.
  let details: [String]
  /// In their order; of those that may be left out, the first that is given is the first.
  let operands: [Operand]
  /// Without `--help`, which every command has.
  let ownOptions: [Option]
  /// Options of which at most one may be given.
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

  /// What stands first behind the command; the only one of most.
  var operand: Operand? { operands.first }

  /// How many operands there may be.
  var operandCounts: ClosedRange<Int> {
    let ranges = operands.map(\.count.range)
    let most = ranges.map(\.upperBound)
    return ranges.reduce(0) {
      $0 + $1.lowerBound
    }...(most.contains(.max) ? .max : most.reduce(0, +))
  }

  /// `weft run [OPTION]... FILE`
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
