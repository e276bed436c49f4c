import WeftDefinition
import WeftDiagnostics
import WeftLoading
import WeftPlanning
import WeftPlatform

/// A workflow file, read once with the files that it names, and its diagnostics.
struct CheckedFile {
  /// The decoded part, even of a rejected file; `nil` if there is none.
  let workflow: Workflow?
  /// `nil` if the file is rejected or cannot be read.
  let plan: Plan?
  let diagnostics: [Diagnostic]
  /// Whether the path is wrong, rather than the file.
  private let isMissing: Bool

  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - directory: The directory given with `-C`, to mention if the file is missing.
  init(path: String, below directory: String? = nil) {
    do {
      (workflow, plan, diagnostics) = try CheckedFile.check(path)
      isMissing = false
    } catch {
      workflow = nil
      plan = nil
      diagnostics = [CheckedFile.diagnostic(error, path: path, below: directory)]
      isMissing = error.isAboutTheName
    }
  }

  var hasWarnings: Bool { diagnostics.contains { $0.severity == .warning } }

  /// Returns the exit code of a check.
  func exitCode(isStrict: Bool) -> ExitCode {
    if isMissing { return .usage }
    if plan == nil { return .rejected }
    return isStrict && hasWarnings ? .failure : .success
  }

  private static func check(
    _ path: String
  ) throws(FileReadError) -> (Workflow?, Plan?, [Diagnostic]) {
    let (workflow, syntax) = try WorkflowLoader.load(path)
    guard let workflow else { return (nil, nil, syntax) }
    let (plan, structure) = Planner.plan(workflow)
    let diagnostics = (syntax + structure).sortedByPlace()
    return (workflow, diagnostics.contains(where: \.isError) ? nil : plan, diagnostics)
  }

  /// Returns a diagnostic without a location, because nothing was read.
  private static func diagnostic(
    _ failure: FileReadError, path: String, below directory: String?
  ) -> Diagnostic {
    let name = path == "-" ? "standard input" : "\"\(path)\""
    return Diagnostic(
      .error, code: "W0000", message: "\(name) \(failure.message)", place: nil,
      help: failure.help(path: path, below: directory))
  }
}

extension FileReadError {
  /// Whether another path is needed, rather than a change to the file.
  fileprivate var isAboutTheName: Bool {
    switch self {
    case .isDirectory, .nulInPath, .system: true
    case .tooLarge, .noWriter: false
    }
  }

  fileprivate func help(path: String, below directory: String?) -> String? {
    switch self {
    case .isDirectory: "name a file in it"
    case .noWriter: "give it a writer, or the workflow on standard input as \"-\""
    case .system(.notFound):
      directory.map { "it is looked for in \"\($0)\", because of -C" }
        ?? "\"weft init \(path)\" writes a first workflow there"
    case .tooLarge, .nulInPath, .system: nil
    }
  }
}
