import WeftEncoding
import WeftEvents

/// The manual page weft(1), with the macros of man(7), from the table that `weft help` prints.
enum ManualPage {
  static var text: String {
    var page = Roff()
    page.line(".TH WEFT 1 \"\" \"weft \(WeftVersion.current)\" \"User Commands\"")
    page.section("NAME")
    page.paragraph("weft - run workflows written in JSON")
    page.section("SYNOPSIS")
    page.line(".B weft\nCOMMAND [OPTION]... [OPERAND]...")
    page.section("DESCRIPTION")
    page.paragraph(
      "A workflow is a JSON file with steps, parallel groups and dependencies. weft checks the whole file, starts "
        + "each step as soon as its dependencies are done, ends everything that it has started, and resumes a run "
        + "with exactly what is not done.")
    page.section("COMMANDS")
    for command in CommandDescription.all { write(command, to: &page) }
    page.section("ENVIRONMENT")
    page.entry("WEFT_DIR", "The directory of runs and of the cache; --state-dir wins.")
    page.entry(
      UserConfiguration.variable,
      "The configuration of the user; default: weft/config.jsonc in XDG_CONFIG_HOME or in ~/.config. Empty for none."
    )
    page.entry("NO_COLOR", "If it is set and not empty, output has no colour.")
    page.section("FILES")
    page.entry(
      "weft.jsonc, weft.json, workflow.jsonc, workflow.json",
      "The workflow of a project, here or in the nearest directory above.")
    page.entry(
      "workflows/NAME.jsonc, workflows/NAME.json", "The workflow that \"weft run NAME\" runs.")
    page.entry(".weft", "The runs, the durations of steps, and the cache.")
    return page.text
  }

  private static func write(_ command: CommandDescription, to page: inout Roff) {
    page.subsection(command.usage)
    page.paragraph(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
    for detail in command.details {
      for line in detail.split(separator: "\n") {
        if line.hasPrefix(" ") { page.example(line.dropFirst(2)) } else { page.paragraph(line) }
      }
    }
    for operand in command.explainedOperands {
      page.entry(operand.value.name, explanation(operand.help, operand.value))
    }
    for option in command.ownOptions {
      page.entry(option.synopsis, explanation(option.help, option.value))
    }
  }

  /// The explanation of a value as a sentence, with the meanings of its words.
  private static func explanation(_ help: String, _ value: ValueDescription?) -> String {
    let words = (value?.choices ?? []).compactMap { choice in
      choice.help.map { "\(choice.word): \($0)" }
    }
    let sentence = help.prefix(1).uppercased() + help.dropFirst()
    return ([String(sentence)] + words).joined(separator: "; ") + "."
  }
}

/// A text for troff(1). Nothing in what is added counts as a request or an escape.
private struct Roff {
  private(set) var text = ""

  mutating func line(_ request: String) { text += request + "\n" }

  mutating func section(_ title: String) { line(".SH \(title)") }

  mutating func subsection(_ title: String) { line(".SS \"\(Roff.quoted(title))\"") }

  mutating func paragraph(_ words: some StringProtocol) {
    line(".PP")
    line(Roff.escaped(words))
  }

  mutating func example(_ words: some StringProtocol) {
    line(".RS\n.nf\n\(Roff.escaped(words))\n.fi\n.RE")
  }

  mutating func entry(_ term: String, _ explanation: String) {
    line(".TP\n.B \"\(Roff.quoted(term))\"\n\(Roff.escaped(explanation))")
  }

  private static func quoted(_ text: some StringProtocol) -> String {
    escaped(text).replacing("\"", with: "\"\"")
  }

  /// Escapes the backslash, dashes (which would become hyphens), and a first character that begins a request.
  private static func escaped(_ text: some StringProtocol) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "'": escaped += "\\(aq"
      case "…": escaped += "..."
      default: escaped.append(character)
      }
    }
    return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
  }
}
