import Weft
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftReporting

/// `weft list`: the workflows of a project, with their inputs and steps.
struct ListCommand: Subcommand {
  private let format: RunDetailFormat

  init(_ parsed: ParsedArguments) throws(UsageError) {
    format = try parsed.word(of: .runDetailFormat) ?? .text
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let found = WorkflowLookup().project
    let listed = found.files.map { ListedWorkflow($0, below: found.ascent) }
    switch format {
    case .json: console.output.write(ListCommand.json(of: listed))
    case .text where listed.isEmpty:
      console.errors.write(
        "weft: no workflow is here or in a directory above: there is neither "
          + "\(WorkflowFileName.ofProjects.joined(separator: ", ")) nor \(WorkflowFileName.folder)/NAME.json\n"
      )
    case .text:
      console.output.write(listed.map(\.text).joined(separator: "\n"))
    }
    return .success
  }

  /// The format of the JSON; it changes when a reader of the old one would misunderstand the new one.
  private static let version = 1

  private static func json(of workflows: [ListedWorkflow]) -> [UInt8] {
    var json = JSONWriter(.pretty, capacity: 4096)
    json.object {
      $0.member("format", version)
      $0.array("workflows") { for workflow in workflows { workflow.write(to: &$0) } }
    }
    json.endLine()
    return json.bytes
  }
}

/// A workflow in the list.
private struct ListedWorkflow {
  /// From the current directory.
  private let path: String
  /// The words after `weft run` or `weft check` that name it from here; empty for the project's own workflow.
  private let operand: String
  private let checked: CheckedFile
  private let steps: [PlannedStep]

  /// - Parameter file: From the project's directory.
  init(_ file: String, below ascent: String) {
    path = ascent + file
    // `weft run` starts it there.
    checked = CheckedFile(
      path: path, startingIn: ascent.isEmpty ? nil : ascent, below: nil)
    // Steps of other files belong to those.
    steps = checked.plan?.steps.filter { !$0.address.text.contains("/") } ?? []
    let name = file.split(separator: "/").last.map(String.init) ?? file
    let bare = WorkflowLookup.bare(name)
    let found = WorkflowLookup().workflow(named: bare)
    operand =
      !file.contains("/")
      ? ""
      : found == WorkflowLookup.Found(file: file, ascent: ascent)
        ? " \(ShellWord.quoted(bare))" : " \(ShellWord.quoted(path))"
  }

  /// The words that run it from here.
  private var command: String { "weft run" + operand }

  private var problemCount: Int { checked.diagnostics.count(where: \.isError) }

  var text: String {
    let name = checked.workflow?.name.map { ": " + TerminalText.harmless($0) } ?? ""
    var text = "\(TerminalText.harmless(command))  (\(TerminalText.harmless(path)))\(name)\n"
    if problemCount > 0 {
      text += HelpText.filled(
        "\(Count(problemCount, "problem")): weft check\(TerminalText.harmless(operand))", indent: 2)
    }
    guard let workflow = checked.workflow else { return text }
    if let description = workflow.description {
      text += HelpText.filled(TerminalText.harmless(description), indent: 2)
    }
    text += workflow.inputs.map { input in
      HelpText.entry(
        "  " + TerminalText.harmless(input.option),
        TerminalText.harmless(HelpText.explanation(of: input)), column: 20)
    }.joined()
    text += steps.map { step in
      let description = step.step.description ?? step.step.name ?? ""
      return HelpText.entry(
        "  " + TerminalText.harmless(step.address.text), TerminalText.harmless(description),
        column: 20)
    }.joined()
    return text
  }

  func write(to json: inout JSONWriter) {
    let workflow = checked.workflow
    json.object {
      $0.member("file", path)
      $0.member("command", command)
      $0.member("name", workflow?.name)
      $0.member("description", workflow?.description)
      $0.member("problems", problemCount > 0 ? problemCount : nil)
      $0.array("inputs") {
        for input in workflow?.inputs ?? [] { ListedWorkflow.write(input, to: &$0) }
      }
      $0.array("steps") {
        for step in steps {
          $0.object {
            $0.member("step", step.address.text)
            $0.member("name", step.step.name)
            $0.member("description", step.step.description)
          }
        }
      }
    }
  }

  private static func write(_ input: InputDeclaration, to json: inout JSONWriter) {
    json.object {
      $0.member("name", input.name.text)
      $0.member("description", input.schema.description ?? input.schema.title)
      $0.member("accepts", input.schema.summary)
      $0.member("required", input.isRequired)
      $0.member("secret", input.isSecret)
      if let value = input.defaultValue, !input.isSecret {
        $0.key("default")
        $0.value(value)
      }
    }
  }
}

extension WorkflowLookup {
  /// The workflows of the nearest directory that has any: its own one first, then those in `workflows`, by name.
  var project: (ascent: String, files: [String]) {
    let folder = first(of: [WorkflowFileName.folder], isDirectory: true)
    let own = workflow
    // The nearer one counts, and of one directory both.
    let ascent =
      [folder, own].compactMap { $0?.ascent }.min { $0.utf8.count < $1.utf8.count } ?? ""
    var files = own.flatMap { $0.ascent == ascent ? [$0.file] : nil } ?? []
    if let folder, folder.ascent == ascent {
      files += WorkflowLookup.files(in: ascent + folder.file)
    }
    return (ascent, files)
  }

  private static func files(in folder: String) -> [String] {
    var found: [String] = []
    let isWorkflow = { (path: [String]) -> Bool in
      guard path.count == 1, let name = path.last, !name.hasPrefix("."),
        let ending = WorkflowFileName.endings.first(where: name.hasSuffix)
      else { return false }
      let bare = name.dropLast(ending.count)
      return !bare.hasSuffix(".test") && !bare.hasSuffix(".schema")
    }
    let choice = Directory.Choice(
      entersDirectory: { _ in false }, visits: isWorkflow, repairsNames: true)
    try? Directory(folder).walk(choice) { found.append($0.path.joined(separator: "/")) }
    return found.sorted().map { "\(WorkflowFileName.folder)/\($0)" }
  }
}
