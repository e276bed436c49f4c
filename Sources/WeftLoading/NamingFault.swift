import WeftPlatform

/// Why a file that another names is not part of the workflow.
enum NamingFault: Error, Hashable, Sendable {
  /// There is nothing of that name in that directory, or in the start directory; perhaps something of
  /// another.
  case missing(String, in: String?, nearest: String?)
  case notOpened(ConfinedFileFault)
  case runsItself(FileChain)
  case tooDeep(FileChain)
  case tooLarge(limit: Int)
  /// The first file, named so, lies outside of the start directory.
  case rootOutside(String)
  case noStartDirectory(SystemError)

  /// Whether it is the fault of no single naming: it is told once, and changing the first cures all.
  var concernsAll: Bool {
    switch self {
    case .tooLarge, .rootOutside, .noStartDirectory: true
    case .missing, .notOpened, .runsItself, .tooDeep: false
    }
  }
}
