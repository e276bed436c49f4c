import WeftDefinition
import WeftDiagnostics
import WeftPlatform

/// The diagnostics of all files, in the order in which the files were first named.
struct LoadingReport {
  private var byFile: [[Diagnostic]]
  private var toldFaults: Set<NamingError> = []
  private var faultCount = 0

  init(of root: [Diagnostic]) {
    byFile = [root]
  }

  var diagnostics: [Diagnostic] { byFile.flatMap { $0.sortedByPlace() } }

  /// Adds the diagnostics of another file, and returns its number.
  mutating func add(_ diagnostics: [Diagnostic]) -> Int {
    byFile.append(diagnostics)
    return byFile.count - 1
  }

  mutating func report(
    _ fault: NamingError, of path: String, at place: Diagnostic.Place?, in file: Int
  ) {
    // The reader has already reported it.
    if fault == .notOpened(.notRead(.nulInPath)) { return }
    if fault.concernsAll, !toldFaults.insert(fault).inserted { return }
    guard faultCount < WorkflowLimits.problems else { return }
    faultCount += 1
    byFile[file].append(
      Diagnostic(
        .error, code: fault.code, message: fault.message(of: path), place: place,
        help: fault.help, related: fault.related))
  }
}

extension NamingError {
  fileprivate var related: [Diagnostic.Related] {
    switch self {
    case .runsItself(let chain), .tooDeep(let chain): chain.related
    case .missing, .notOpened, .tooLarge, .rootOutside, .noStartDirectory: []
    }
  }
}
