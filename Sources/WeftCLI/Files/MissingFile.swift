import Weft
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftReporting

/// The probable meaning of a FILE that does not exist: a step, another workflow, or an input.
struct MissingFile {
  private let operand: String
  private let command: CommandName
  /// The words of the command up to its first operand.
  private let words: String
  /// The directory given with `-C`, which is the current one by now.
  private let directory: String?
  private let lookup = WorkflowLookup()

  init(_ operand: String, of command: CommandName, below directory: String? = nil) {
    self.operand = operand
    self.command = command
    self.directory = directory
    words =
      "weft \(command.rawValue)" + (directory.map { " -C \(ShellWord.quoted($0))" } ?? "")
  }

  /// `nil` if the operand is a path, or nothing is known about it.
  var help: String? {
    guard !operand.contains("/"), operand != "-" else { return nil }
    guard WorkflowLookup.isName(operand) else { return namedWithEnding }
    return input ?? step ?? nearestWorkflow ?? (directory == nil ? triedNames : nil)
  }

  /// `deploy.json`, although only `workflows/deploy.json` exists.
  private var namedWithEnding: String? {
    guard let ending = WorkflowLookup.endings.first(where: operand.hasSuffix) else { return nil }
    let name = String(operand.dropLast(ending.count))
    guard let found = lookup.workflow(named: name) else { return nil }
    return "\(found.ascent)\(found.file) exists: \(words) \(ShellWord.quoted(name))"
  }

  private var input: String? {
    guard CommandDescription.named(command).ownOptions.contains(.input) else { return nil }
    return MissingFile.input(operand).map { "to set an input: \(words) \($0)" }
  }

  private var step: String? {
    guard let choice = MissingFile.choice(of: [operand], in: lookup, for: command) else {
      return nil
    }
    return "\"\(operand)\" is a step or group of \(choice.file): \(words) \(choice.options)"
  }

  private var nearestWorkflow: String? {
    let names = lookup.project.files.compactMap { file -> String? in
      guard file.hasPrefix(WorkflowLookup.folder + "/"),
        let ending = WorkflowLookup.endings.first(where: file.hasSuffix)
      else { return nil }
      return String(file.dropFirst(WorkflowLookup.folder.count + 1).dropLast(ending.count))
    }
    return NearestName(names).nearest(to: operand).asSuggestion
  }

  private var triedNames: String {
    let names = WorkflowLookup.endings.map { "\(WorkflowLookup.folder)/\(operand)\($0)" }
    return "there is no \(names.joined(separator: " or ")) here or above either; "
      + "\"weft list\" shows the workflows"
  }

  // MARK: Words that are no files

  /// The option for an operand that looks like `NAME=VALUE`; `nil` for another.
  static func input(_ operand: String) -> String? {
    guard let argument = InputArgument(operand), InputName(argument.name) != nil else {
      return nil
    }
    return "-i \(ShellWord.quoted(operand))"
  }

  /// The options that choose these steps of the nearest workflow, and its file.
  ///
  /// - Returns: `nil` unless all are steps of it, and the command can choose steps.
  static func choice(
    of operands: [String], in lookup: WorkflowLookup = WorkflowLookup(), for command: CommandName
  ) -> (options: String, file: String)? {
    guard CommandDescription.named(command).ownOptions.contains(.only),
      operands.allSatisfy(WorkflowLookup.isName), let found = lookup.workflow
    else { return nil }
    let file = found.ascent + found.file
    guard let plan = CheckedFile(path: file, below: nil).plan,
      (try? plan.stepsExcluded(by: StepChoice(only: operands))) != nil
    else { return nil }
    let options = operands.map { "--only \(ShellWord.quoted($0))" }
    return (options.joined(separator: " "), file)
  }
}
