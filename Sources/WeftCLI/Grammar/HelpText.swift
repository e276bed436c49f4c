import Weft
import WeftPlatform

/// The output of `weft help` and `weft COMMAND --help`, at most 80 columns wide.
enum HelpText {
  /// The help about all commands.
  static var overview: String {
    let commands = CommandDescription.all.map { command in
      let operands = command.operands.map { " " + $0.synopsis }.joined()
      return entry(command.name.rawValue + operands, command.summary, column: 30)
    }
    let options = [Option.help, .version].map { entry($0.synopsis, $0.help, column: 30) }
    return """
      weft runs workflows written in JSON.

      usage: weft COMMAND [OPTION]... [OPERAND]...

      commands:
      \(commands.joined())
      options:
      \(options.joined())
      See "weft help COMMAND" for details.
      To begin: "weft init", then "weft run workflow.json".

      """
  }

  /// Returns help about one command.
  static func text(for command: CommandDescription) -> String {
    var sections = ["weft \(command.name.rawValue): \(command.summary)\n"]
    sections.append("usage: \(command.usage)\n")
    sections += command.details.map(paragraph)
    if !command.explainedOperands.isEmpty {
      let operands = command.explainedOperands.map {
        entry($0.value, called: $0.value.name, $0.help)
      }
      sections.append((operands.count > 1 ? "operands:\n" : "operand:\n") + operands.joined())
    }
    let options = command.options.map { entry($0.value, called: $0.synopsis, $0.help) }
    sections.append("options:\n" + options.joined())
    return sections.joined(separator: "\n")
  }

  /// Refills a paragraph, except lines that begin with a space.
  private static func paragraph(_ text: String) -> String {
    let lines = text.split(separator: "\n")
    return lines.map { $0.hasPrefix(" ") ? $0 + "\n" : filled(String($0), indent: 0) }.joined()
  }

  /// Returns an explanation, and the meanings of the words if the value is one of several.
  private static func entry(
    _ value: ValueDescription?, called term: String, _ explanation: String
  ) -> String {
    let choices = value?.choices ?? []
    let widest = choices.map(\.word.count).max() ?? 0
    return entry(term, explanation, column: 16)
      + choices.compactMap { choice in
        choice.help.map { help in
          let padding = String(repeating: " ", count: widest - choice.word.count + 2)
          return String(repeating: " ", count: 18) + choice.word + padding + help + "\n"
        }
      }.joined()
  }

  /// Returns `  term          explanation` with the explanation filled; a long term gets its own line.
  static func entry(_ term: String, _ explanation: String, column: Int) -> String {
    let start = "  " + term
    guard explanation.contains(where: { $0 != " " }) else { return start + "\n" }
    let body = filled(explanation, indent: column)
    return start.count + 2 > column ? start + "\n" + body : start + body.dropFirst(start.count)
  }

  /// Breaks the text between words; every line is indented and ends with a line end.
  static func filled(_ text: String, indent: Int) -> String {
    let prefix = String(repeating: " ", count: indent)
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= 80 {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(prefix + word)
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension HelpText {
  /// Returns help about the inputs of a workflow.
  static func text(for workflow: Workflow, file: String) -> String {
    let path = TerminalText.harmless(file)
    let name = workflow.name.map { ": " + TerminalText.harmless($0) } ?? ""
    var sections = ["weft run \(path)\(name)\n", "usage: weft run [OPTION]... \(path)\n"]
    if let description = workflow.description {
      sections.append(filled(TerminalText.harmless(description), indent: 0))
    }
    let entries = workflow.inputs.map { input in
      entry(
        TerminalText.harmless(input.option), TerminalText.harmless(explanation(of: input)),
        column: 16)
    }
    sections.append(
      entries.isEmpty ? "The workflow has no inputs.\n" : "inputs:\n" + entries.joined())
    sections.append("See \"weft help run\" for the options.\n")
    return sections.joined(separator: "\n")
  }

  static func explanation(of input: InputDeclaration) -> String {
    let parts = [
      input.schema.description ?? input.schema.title, input.schema.summary,
      input.isSecret ? "secret" : nil, standard(of: input),
    ]
    return parts.compactMap(\.self).joined(separator: "; ")
  }

  private static func standard(of input: InputDeclaration) -> String {
    guard let value = input.defaultValue else { return "required" }
    return input.isSecret ? "has a default" : "default: \(shortened(value.description))"
  }
}

/// `weft run FILE --help`: the inputs of a file, even if the file has errors.
struct ExplainCommand: Subcommand {
  private let file: String
  private let directory: String?

  init(_ parsed: ParsedArguments) {
    file = parsed.operands[0]
    directory = parsed.value(of: .directory)
  }

  func execute(_ console: Console) -> ExitCode {
    let checked = CheckedFile(path: file, below: directory, for: .run)
    guard let workflow = checked.workflow else {
      console.errors.write(checked.diagnostics)
      return checked.exitCode()
    }
    console.output.write(HelpText.text(for: workflow, file: file))
    if checked.plan == nil {
      let name = TerminalText.harmless(file)
      console.output.write("\nThe file is rejected; see \"weft check \(name)\".\n")
    }
    return .success
  }
}
