import WeftDefinition
import WeftDiagnostics
import WeftJSON

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

  private static func explanation(of input: InputDeclaration) -> String {
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
