import Weft
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftPlatform
import WeftReporting

/// Finds the workflow of a command that names no file, and the state directory: here, or in the nearest directory above.
///
/// In directories above, files of other users are ignored, except root's. So no one can make weft run a workflow by
/// putting it into a shared directory. In the current directory, files of all users count.
struct WorkflowLookup {
  /// A file, and the directory in which it starts.
  struct Found: Hashable {
    /// Relative to the directory.
    let file: String
    /// The way up from here: `""`, `"../"`, `"../../"`.
    let ascent: String
  }

  /// The absolute path from which the search starts.
  private let start: String

  /// - Parameter start: An absolute path; `nil` for the current directory.
  init(from start: String? = nil) {
    self.start = start ?? (try? FileSystem.currentDirectory()) ?? "/"
  }

  /// The project's workflow.
  var workflow: Found? { first(of: WorkflowFileName.ofProjects) }

  /// The workflow `workflows/NAME.json[c]`; `nil` if the operand is not such a name, or a file has it.
  func workflow(named name: String) -> Found? {
    guard WorkflowLookup.isName(name), !WorkflowLookup.isFile(name) else { return nil }
    return first(of: WorkflowFileName.endings.map { "\(WorkflowFileName.folder)/\(name)\($0)" })
  }

  /// The names of the project's workflows that have one.
  fileprivate var names: [String] {
    project.files.compactMap(WorkflowLookup.name(of:))
  }

  /// Whether an operand names a workflow rather than a file: it has neither a folder nor an ending.
  static func isName(_ operand: String) -> Bool {
    !operand.isEmpty && !operand.hasPrefix("-") && !operand.contains("/")
      && !WorkflowFileName.endings.contains(where: operand.hasSuffix)
  }

  /// Whether a path is that of a file. A directory is no workflow, and may well have the name of one: build, test.
  static func isFile(_ path: String) -> Bool {
    FileSystem.isTrusted(path) != nil && !FileSystem.isDirectory(path)
  }

  /// The name of a workflow file without its ending.
  static func bare(_ name: String) -> String {
    String(name.dropLast(WorkflowFileName.endings.first(where: name.hasSuffix)?.count ?? 0))
  }

  /// The path of the nearest state directory; `nil` if there is none.
  var stateDirectory: String? {
    first(of: [StateDirectory.defaultName], isDirectory: true).map { $0.ascent + $0.file }
  }

  // MARK: Searching

  func first(of names: [String], isDirectory: Bool = false) -> Found? {
    var (directory, ascent) = (start, "")
    while true {
      let prefix = directory == "/" ? "/" : directory + "/"
      for name in names where isFile(prefix, name, isDirectory, isAbove: !ascent.isEmpty) {
        return Found(file: name, ascent: ascent)
      }
      guard directory != "/", let slash = directory.lastIndex(of: "/") else { return nil }
      directory = slash == directory.startIndex ? "/" : String(directory[..<slash])
      ascent += "../"
    }
  }

  private func isFile(
    _ directory: String, _ name: String, _ isDirectory: Bool, isAbove: Bool
  ) -> Bool {
    let path = directory + name
    guard let isTrusted = FileSystem.isTrusted(path),
      FileSystem.isDirectory(path) == isDirectory
    else { return false }
    guard isAbove else { return true }
    let folders =
      [directory] + (name.contains("/") ? ["\(directory)\(WorkflowFileName.folder)"] : [])
    return isTrusted && folders.allSatisfy { FileSystem.isTrusted($0) == true }
  }
}

extension ParsedArguments {
  /// Fills in the workflow that a command without FILE means, or that it names without its folder, and changes to the
  /// directory in which it starts, as with `-C`. Paths in other arguments stay those that the user meant.
  func locatingWorkflow(_ console: Console) throws(CommandFailure) -> ParsedArguments {
    guard let place = operandPlace, !isGiven(.help) || command == .run else { return self }
    let lookup = WorkflowLookup()
    if place == 0, operands.count > 1, command != .why {
      // They may start in several directories, so they are read where they are.
      return replacing(
        operands: operands.map { name in
          lookup.workflow(named: name).map { $0.ascent + $0.file } ?? name
        })
    }
    let found: WorkflowLookup.Found
    if place < operands.count {
      guard let named = lookup.workflow(named: operands[place]) else { return self }
      found = named
    } else {
      guard let nearest = lookup.workflow else {
        if command == .why, WorkflowLookup.isFile(operands[0]) { throw .noStep(of: operands[0]) }
        throw .noWorkflow(command, besides: lookup.names)
      }
      // No step has such a name.
      if command == .why, WorkflowFileName.endings.contains(where: operands[0].hasSuffix),
        WorkflowLookup.isFile(operands[0])
      {
        throw .noStep(of: operands[0])
      }
      found = nearest
    }
    guard !found.ascent.isEmpty else { return naming(found.file, at: place) }
    let here = (try? FileSystem.currentDirectory()) ?? "/"
    do { try FileSystem.changeDirectory(to: found.ascent) } catch {
      throw CommandFailure(.usage, "cannot change to \"\(found.ascent)\": \(error)")
    }
    console.errors.write("weft: using \(found.ascent)\(found.file)\n")
    return mappingValues { $0.relocated($1, below: here) }.naming(found.file, at: place)
  }

  /// The place of FILE among the operands; `nil` if the command has none.
  private var operandPlace: Int? {
    switch command {
    case .run, .graph, .estimate, .check, .fmt: 0
    // One operand of "weft why" is STEP.
    case .why: operands.count == 1 ? 1 : 0
    default: nil
    }
  }

  /// Returns the arguments with FILE as the first operand.
  private func naming(_ file: String, at place: Int) -> ParsedArguments {
    let others = place == 0 ? Array(operands.dropFirst()) : operands
    return replacing(operands: [file] + others)
  }
}

extension Option {
  /// Returns a value with the path in it, if there is one, made absolute.
  fileprivate func relocated(_ value: String, below directory: String) -> String {
    switch self {
    case .input: return relocated(value, after: "@", below: directory)
    case .report where value.split(separator: "=").count > 1:
      return relocated(value, after: "=", below: directory)
    case .events where value.hasPrefix("fd:"), .directory: return value
    default: break
    }
    switch self.value?.kind {
    case .file, .existingFile, .directory: return Option.absolute(value, below: directory)
    case .text, .names, .choice, nil: return value
    }
  }

  /// Makes the path absolute that follows the first `=` in `NAME=@FILE` or `FORMAT=FILE`.
  private func relocated(
    _ value: String, after mark: Character, below directory: String
  ) -> String {
    guard let equals = value.firstIndex(of: "=") else { return value }
    var start = value.index(after: equals)
    if mark == "@" {
      guard value[start...].first == "@" else { return value }
      start = value.index(after: start)
      if value[start...].first == "@" { return value }
    }
    return value[..<start] + Option.absolute(String(value[start...]), below: directory)
  }

  private static func absolute(_ path: String, below directory: String) -> String {
    if path.isEmpty || path == "-" || path.hasPrefix("/") { return path }
    return (directory == "/" ? "/" : directory + "/") + path
  }
}

extension CommandFailure {
  /// - Parameter names: The workflows of the project that can be named.
  fileprivate static func noWorkflow(
    _ command: CommandName, besides names: [String]
  ) -> CommandFailure {
    let (words, step) = ("weft \(command.rawValue)", command == .why ? " STEP" : "")
    let help =
      names.isEmpty
      ? "name a file: \(words) FILE\(step); weft init writes a first workflow.json"
      : "name one: " + shortList(names) { "\(words) \(ShellWord.quoted($0))\(step)" }
    return CommandFailure(
      .usage,
      "no workflow is named, and there is no \(WorkflowFileName.ofProjects.joined(separator: ", ")) here or in"
        + " a directory above", help: help)
  }

  /// The refusal of `weft why FILE`.
  fileprivate static func noStep(of file: String) -> CommandFailure {
    CommandFailure(
      .usage, "no step is named, only the workflow \"\(TerminalText.harmless(file))\"",
      help: "name a step of it: weft why \(ShellWord.quoted(file)) STEP")
  }
}

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
    guard let ending = WorkflowFileName.endings.first(where: operand.hasSuffix) else { return nil }
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
    NearestName(lookup.names).nearest(to: operand).asSuggestion
  }

  private var triedNames: String {
    let names = WorkflowFileName.endings.map { "\(WorkflowFileName.folder)/\(operand)\($0)" }
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
