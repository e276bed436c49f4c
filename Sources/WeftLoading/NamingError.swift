import WeftPlatform

/// The reason why a named file is not part of the workflow.
enum NamingError: Error, Hashable, Sendable {
  /// The directory, or the start directory, has no file of that name, but perhaps one with a similar name.
  case missing(String, in: String?, nearest: String?)
  case notOpened(ConfinedFileError)
  case runsItself(FileChain)
  case tooDeep(FileChain)
  case tooLarge(limit: Int)
  /// The first file, with this path, is outside the start directory.
  case rootOutside(String)
  case noStartDirectory(SystemError)

  /// Whether it concerns all named files: it is reported once, and one change fixes it for all.
  var concernsAll: Bool {
    switch self {
    case .tooLarge, .rootOutside, .noStartDirectory: true
    case .missing, .notOpened, .runsItself, .tooDeep: false
    }
  }
}
