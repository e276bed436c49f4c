import WeftDefinition
import WeftDiagnostics
import WeftLoading
import WeftPlanning
import WeftPlatform

/// A workflow file that was read once, with the files that it names, and all that is to be said of them.
struct CheckedFile {
  /// What was understood, of a rejected file too; `nil` where that is nothing.
  let workflow: Workflow?
  /// `nil` if the file is rejected, or cannot be read.
  let plan: Plan?
  let diagnostics: [Diagnostic]
  /// Whether there is no such file to read.
  private let isMissing: Bool

  /// - Parameters:
  ///   - path: `-` is standard input.
  ///   - directory: Where `-C` has led before; to be mentioned where the file is missed.
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

  /// What checking it comes to.
  func exitCode(isStrict: Bool) -> ExitCode {
    if isMissing { return .usage }
    if plan == nil { return .rejected }
    return isStrict && hasWarnings ? .failure : .success
  }

  private static func check(
    _ path: String
  ) throws(FileNotRead) -> (Workflow?, Plan?, [Diagnostic]) {
    let (workflow, syntax) = try WorkflowLoader.load(path)
    guard let workflow else { return (nil, nil, syntax) }
    let (plan, structure) = Planner.plan(workflow)
    let diagnostics = (syntax + structure).sortedByPlace()
    return (workflow, diagnostics.contains(where: \.isError) ? nil : plan, diagnostics)
  }

  /// Without a place, for nothing was read.
  private static func diagnostic(
    _ failure: FileNotRead, path: String, below directory: String?
  ) -> Diagnostic {
    let name = path == "-" ? "standard input" : "\"\(path)\""
    return Diagnostic(
      .error, code: "W0000", message: "\(name) \(failure.message)", place: nil,
      help: failure.help(path: path, below: directory))
  }
}

extension FileNotRead {
  /// Whether another name has to be given, rather than the file be changed.
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
