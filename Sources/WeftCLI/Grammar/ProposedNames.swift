import Weft
import WeftDefinition
import WeftPlanning
import WeftPlatform

/// The names that depend on files and runs, for the completions of shells: `weft __complete KIND CURRENT WORD...` prints
/// them, one per line. The words are those before the current one, from the command on.
///
/// It reads what the command would read, reports no errors, and proposes nothing that has a line end.
struct ProposedNames {
  /// The first argument of the calls, which no command has.
  static let call = "__complete"

  enum Kind: String, Sendable {
    /// A workflow that needs no path.
    case workflow
    /// A step or group of the workflow on the command line, or of a recorded run.
    case step
    /// Such a step of a prediction, followed by `=`; or `STEP=FACTOR`, if the current word has a step already.
    case speedUp = "speed-up"
    /// An input of the workflow, followed by `=`; or `NAME=VALUE`, if the current word has a name already.
    case input
    /// The ID of a run, or its beginning.
    case run
    /// The file or the name of a workflow that has been run.
    case recordedFile = "file"
    /// A class of failures.
    case errorClass = "class"
    /// A runner of the workflow on the command line, or of the configuration.
    case runner

    /// Whether the name is the first part of `NAME=VALUE`.
    var isPair: Bool { self == .input || self == .speedUp }
  }

  private let kind: Kind
  private let command: CommandName
  /// The word that is being written.
  private let current: String
  private let operands: [String]
  /// The values of options that decide where to look.
  private var (directory, state): (String?, String?)

  /// - Parameter arguments: Those after ``call``.
  init?(_ arguments: ArraySlice<String>) {
    let words = Array(arguments)
    guard words.count >= 3, let kind = Kind(rawValue: words[0]),
      let command = CommandName(rawValue: words[2])
    else { return nil }
    (self.kind, current, self.command) = (kind, words[1], command)
    let options = CommandDescription.named(command).options
    var operands: [String] = []
    var rest = words[3...]
    while let word = rest.popFirst(), word != "--" {
      // bash splits words at "=".
      if word == "=" {
        _ = rest.popFirst()
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard word.hasPrefix("-"), word != "-",
        let option = options.first(where: { $0.spellings.contains(String(parts[0])) })
      else {
        if !word.hasPrefix("-") { operands.append(word) }
        continue
      }
      guard option.value != nil else { continue }
      if rest.first == "=" { rest.removeFirst() }
      let value = parts.count > 1 ? String(parts[1]) : rest.popFirst()
      if option == .directory { directory = value }
      if option == .stateDirectory || option == .records { state = value }
    }
    self.operands = operands
  }

  /// The names, sorted unless their order means something.
  func names() -> [String] {
    if let directory, (try? FileSystem.changeDirectory(to: directory)) == nil { return [] }
    let found =
      switch kind {
      case .workflow: WorkflowLookup().project.files.compactMap(WorkflowLookup.name(of:))
      case .step: steps
      case .speedUp: speedUps
      case .errorClass: ErrorClass.plain.map(\.name)
      case .recordedFile: recordedFiles
      case .input: inputs
      case .runner: runners
      case .run: (runs?.state.newestFirst() ?? []).map(\.text)
      }
    return found.filter { !$0.contains(where: \.isNewline) }
  }

  // MARK: Recorded runs

  private var runs: RecordedRuns? {
    try? RecordedRuns(in: RecordDirectory(option: state, start: directory))
  }

  private var recordedSteps: [String] {
    guard let runs else { return [] }
    let run = operands.lazy.compactMap { try? runs.chosen($0) }.first ?? (try? runs.chosen(nil))
    guard let run, let detail = try? runs.state.detail(of: run) else { return [] }
    return detail.steps.map(\.0.text)
  }

  private var recordedFiles: [String] {
    let list = runs?.state.list() ?? []
    return Set(list.flatMap { [$0.workflow, $0.file].compactMap(\.self) }).sorted()
  }

  // MARK: Workflows

  /// The workflow that an operand names, else that of the project.
  private var checked: CheckedWorkflow? {
    let lookup = WorkflowLookup()
    let named = operands.lazy.compactMap { operand in
      WorkflowLookup.isFile(operand)
        ? WorkflowLookup.Found(file: operand, ascent: "") : lookup.workflow(named: operand)
    }.first
    guard let found = named ?? lookup.workflow else { return nil }
    if !found.ascent.isEmpty, (try? FileSystem.changeDirectory(to: found.ascent)) == nil {
      return nil
    }
    return try? CheckedWorkflow(contentsOf: found.file, runners: UserConfiguration.read().runners)
  }

  private var steps: [String] {
    let plan = checked?.plan
    let planned =
      plan.map { $0.steps.map(\.address.text) + $0.groups.compactMap { $0.address?.text } } ?? []
    // Commands that run a workflow, or predict its run, select what the file has: neither elements nor steps of other runs.
    let selects = [.run, .graph, .estimate].contains(command)
    if selects, plan != nil { return Set(planned).sorted() }
    let recorded = recordedSteps.filter { !selects || !$0.contains("[") }
    return Set(planned + recorded).sorted()
  }

  private var speedUps: [String] {
    guard let equals = current.lastIndex(of: "=") else { return steps.map { "\($0)=" } }
    return ["2x", "5x", "10x"].map { "\(current[..<equals])=\($0)" }
  }

  private var runners: [String] {
    let declared = checked?.workflow?.runners ?? UserConfiguration.read().runners
    return Set(declared.map(\.name) + [Runner.local, Runner.slurm.name]).sorted()
  }

  private var inputs: [String] {
    let declarations = checked?.workflow?.inputs ?? []
    guard let equals = current.firstIndex(of: "=") else {
      return declarations.map { "\($0.name)=" }
    }
    let name = String(current[..<equals])
    guard let declaration = declarations.first(where: { $0.name.text == name }) else { return [] }
    return declaration.schema.answers.map { "\(name)=\($0)" }
  }
}

extension WorkflowLookup {
  /// The name by which a file of the project's folder is run; `nil` if it needs none, or has none.
  static func name(of file: String) -> String? {
    let path = file.split(separator: "/")
    guard path.count == 2, let ending = WorkflowFileName.endings.first(where: file.hasSuffix) else {
      return nil
    }
    let name = String(path[1].dropLast(ending.count))
    return isName(name) ? name : nil
  }
}
