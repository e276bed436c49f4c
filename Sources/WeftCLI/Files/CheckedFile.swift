import Weft
import WeftCaching
import WeftPlanning
import WeftPlatform

/// A workflow file, read once with the files that it names, and its diagnostics.
struct CheckedFile {
  let workflow: Workflow?
  /// `nil` if the file is rejected or cannot be read.
  let plan: Plan?
  let diagnostics: [Diagnostic]
  /// Whether the path is wrong, rather than the file.
  private let isMissing: Bool

  /// The runners of a check.
  struct RunnerChoice {
    /// The runner that replaces those of the files.
    var name: String?
    /// Whether runners are asked if they would run the commands.
    var isProbed = false
  }

  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - startDirectory: That of a run of the file; `nil` for the current directory.
  ///   - directory: The directory given with `-C`, to mention if the file is missing.
  ///   - command: The command that reads the file, for the help if it is missing.
  ///   - offersInit: Whether a missing file may be created by `weft init`.
  init(
    path: String, startingIn startDirectory: String? = nil, below directory: String?,
    for command: CommandName? = nil, offersInit: Bool = false, runner: RunnerChoice = RunnerChoice()
  ) {
    do {
      let configuration = UserConfiguration.read()
      var checked = try CheckedWorkflow(
        contentsOf: path, startDirectory: startDirectory, runners: configuration.runners)
      if command == .check { checked = checked.withEnvironmentFiles() }
      if let name = runner.name { checked = checked.choosing(runner: name) }
      if runner.isProbed { checked = checked.probingRunners() }
      workflow = checked.workflow
      plan = configuration.isRejected ? nil : checked.plan
      diagnostics = configuration.problems(with: checked.diagnostics)
      isMissing = false
    } catch {
      (workflow, plan) = (nil, nil)
      var problem = error.diagnostic(of: path, below: directory)
      if case .system(.notFound) = error, let command,
        let help = MissingFile(path, of: command, below: directory).help
      {
        problem.help = help
      } else if case .system(.notFound) = error, offersInit, directory == nil,
        CheckedFile.isPlausibleName(path)
      {
        problem.help = "to create a first workflow there: weft init \(path)"
      }
      diagnostics = [problem]
      isMissing = error.isAboutTheName
    }
  }

  /// Returns the exit code of a check.
  func exitCode(isStrict: Bool = false) -> ExitCode {
    if isMissing { return .usage }
    if plan == nil { return .rejected }
    // Of an env file or of --runner, as for a run.
    let errors = diagnostics.filter(\.isError)
    if errors.contains(where: { $0.code != Diagnostic.refusalByRunner }) { return .usage }
    if !errors.isEmpty { return .failure }
    return isStrict && hasWarnings ? .failure : .success
  }

  fileprivate var hasWarnings: Bool { diagnostics.contains { $0.severity == .warning } }

  /// Whether a path looks like that of a workflow file, rather than a pattern or a URL.
  private static func isPlausibleName(_ path: String) -> Bool {
    path.hasSuffix(".json") && path != ".json" && !path.hasSuffix("/.json")
      && !path.contains { "*?[]{}:\"' ".contains($0) }
  }
}

extension FileReadError {
  /// Returns a diagnostic without a location, because nothing was read.
  ///
  /// - Parameter directory: The directory given with `-C`, to mention if the file is missing.
  func diagnostic(of path: String, below directory: String?) -> Diagnostic {
    let name = path == "-" ? "standard input" : "\"\(path)\""
    return Diagnostic(
      .error, code: "W0000", message: "\(name) \(message)", place: nil,
      help: help(below: directory))
  }

  /// Whether another path is needed, rather than a change to the file.
  var isAboutTheName: Bool {
    switch self {
    case .isDirectory, .nulInPath, .system: true
    case .tooLarge, .noWriter: false
    }
  }

  fileprivate func help(below directory: String?) -> String? {
    switch self {
    case .isDirectory: "name a file in it"
    case .noWriter: "open it for writing, or pass the workflow on standard input as \"-\""
    case .system(.notFound):
      directory.map { "the path is relative to \"\($0)\", because of -C" }
    case .tooLarge, .nulInPath, .system: nil
    }
  }
}

/// A workflow file on the command line, with its inputs: the operands of `run`, `graph` and `why`.
struct FileOperand {
  let path: String
  let inputs: InputOptions
  private let directory: String?
  private let command: CommandName
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) throws(UsageError) {
    path = parsed.operands[0]
    inputs = try InputOptions(parsed)
    directory = parsed.value(of: .directory)
    command = parsed.command
    place = RecordDirectory(parsed)
  }

  /// Checks the file and reads the inputs. All diagnostics are written.
  ///
  /// - Parameters:
  ///   - isStrict: Whether warnings are errors.
  ///   - allowsMissing: Whether inputs may be missing.
  ///   - reading: Called when the file has been read, even if it is rejected.
  func planned(
    _ console: Console, isStrict: Bool = false, allowsMissing: Bool,
    reading: (CheckedFile) throws(CommandFailure) -> Void = { _ in }
  ) throws(CommandFailure) -> (plan: Plan, inputs: InputValues) {
    let file = CheckedFile(
      path: path, below: directory, for: command, offersInit: !allowsMissing)
    if allowsMissing { DeliberateLeak.untilExit(file) }
    try reading(file)
    console.errors.write(file.diagnostics)
    guard let plan = file.plan else { throw CommandFailure(file.exitCode()) }
    if isStrict, file.hasWarnings {
      throw CommandFailure(.failure, "nothing was started: --strict does not allow warnings")
    }
    return (plan, try inputs.values(for: plan.workflow, allowsMissing: allowsMissing))
  }

  /// Returns the plan of a run that is not started.
  func preview(
    _ console: Console, choosing choice: StepChoice = StepChoice(), isStrict: Bool = false
  ) throws(CommandFailure) -> PlanPreview {
    let (plan, inputs) = try planned(console, isStrict: isStrict, allowsMissing: true)
    let (bound, problems) = plan.bound(to: inputs, run: nil)
    guard problems.isEmpty else { throw CommandFailure(.usage, problems) }
    do {
      return try PlanPreview(
        bound, inputs, choosing: choice, state: place.path, cache: StepCache.path(in: place.path))
    } catch {
      throw CommandFailure(error)
    }
  }
}
