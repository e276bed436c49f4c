/// The commands by name; what is not here does not exist.
enum CommandName: String, Sendable, CaseIterable {
  case run, resume, check, graph, eval, reap, schema, `init`, completions, help, version
}

/// All that parsing, help and completions know of a command.
struct CommandDescription: Sendable {
  let name: CommandName
  /// A clause for the list of commands: lower case, no full stop.
  let summary: String
  /// Paragraphs for the command's own help; lines that begin with a space are kept as they are.
  let details: [String]
  let operand: Operand?
  /// Without `--help`, which every command has.
  let ownOptions: [Option]
  /// Options of which at most one may be given.
  let contradictions: [[Option]]

  init(
    _ name: CommandName, _ summary: String, details: [String], operand: Operand? = nil,
    options: [Option] = [], contradictions: [[Option]] = []
  ) {
    self.name = name
    self.summary = summary
    self.details = details
    self.operand = operand
    self.ownOptions = options
    self.contradictions = contradictions
  }

  var options: [Option] { ownOptions + [.help] }

  /// `weft run [OPTION]... FILE`
  var usage: String {
    let parts = [
      "weft", name.rawValue, ownOptions.isEmpty ? nil : "[OPTION]...", operand?.synopsis,
    ]
    return parts.compactMap(\.self).joined(separator: " ")
  }

  static func named(_ name: CommandName) -> CommandDescription {
    all.first { $0.name == name }!
  }
}
