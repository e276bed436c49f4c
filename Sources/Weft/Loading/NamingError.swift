import WeftDefinition
import WeftDiagnostics
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

extension NamingError {
  /// The diagnostic code, stable across releases.
  var code: String {
    switch self {
    case .notOpened(.outside), .rootOutside: "W0602"
    case .missing, .notOpened, .noStartDirectory: "W0601"
    case .runsItself: "W0603"
    case .tooDeep: "W0604"
    case .tooLarge: "W0605"
    }
  }

  /// - Parameter path: The path as written in the file.
  func message(of path: String) -> String {
    let name = quoted(path)
    return switch self {
    case .missing: "\(name) \(FileReadError.system(.notFound).message)"
    case .notOpened(let fault): "\(name) \(fault.predicate)"
    case .runsItself(let chain): "\(name) runs itself: \(chain)"
    case .tooDeep(let chain):
      "workflow files are nested more than \(WorkflowLimits.nestedFiles) deep: \(chain)"
    case .tooLarge(let limit):
      "with \(name), the files of the workflow have more than \(limit >> 20) MiB in total"
    case .rootOutside:
      "\(name) is not read, because the file that names it is outside the start directory"
    case .noStartDirectory(let error):
      "\(name) is not read, because the start directory cannot be read: \(error)"
    }
  }

  var help: String? {
    switch self {
    case .missing(_, _, let nearest?): "did you mean \(quoted(nearest))?"
    case .missing(let name, let directory, nil):
      "there is no \(quoted(name)) in \(directory.map(quoted) ?? "the start directory")"
    case .notOpened(let fault): fault.help
    case .runsItself: "a file cannot run itself, directly or through other files"
    case .tooDeep: "run the innermost file from a file further up"
    case .tooLarge: "split the workflow into several, and run them one by one"
    case .rootOutside(let path): NamingError.startingAt(path)
    case .noStartDirectory: "start in a readable directory, with -C"
    }
  }

  private static func startingAt(_ path: String) -> String {
    let names = path.split(separator: "/", omittingEmptySubsequences: false)
    let directory = names.dropLast().joined(separator: "/")
    return "start in its directory, with -C \(quoted(directory.isEmpty ? "/" : directory))"
  }
}

extension ConfinedFileError {
  /// Describes the problem, to follow the name of the file.
  fileprivate var predicate: String {
    switch self {
    case .outside(nil): "is outside the start directory"
    case .outside(let link?):
      "is outside the start directory, through the symbolic link \(quoted(link.text))"
    case .missing: FileReadError.system(.notFound).message
    case .tooManyLinks: "goes through too many symbolic links"
    case .notRegular(let kind): "is \(kind), expected a file"
    case .notRead(let failure): failure.message
    }
  }

  fileprivate var help: String? {
    switch self {
    case .outside(nil):
      "a workflow only runs files in the start directory: start in a parent directory, with -C"
    case .outside:
      "a workflow only runs files in the start directory: move the file there"
    case .missing: nil
    case .tooManyLinks: "name the file itself"
    case .notRegular: "name a regular file"
    case .notRead(.isDirectory): "name a file in it"
    case .notRead: nil
    }
  }
}

/// The files that are being read, from the root on, each named by the one before it.
///
/// Rejects files that run themselves and files nested too deeply.
struct NestingChain: Sendable {
  struct Hop: Sendable, Hashable {
    /// The location of the file; `nil` for a root without a path, which no file can name.
    let file: ConfinedPath?
    /// The name shown in messages.
    let name: String
    /// The location at which the file before it names this one.
    let naming: Diagnostic.Place?
  }

  private(set) var hops: [Hop]

  init(root: ConfinedPath?, called name: String) {
    hops = [Hop(file: root, name: name, naming: nil)]
  }

  mutating func enter(_ hop: Hop) { hops.append(hop) }

  mutating func leave() { hops.removeLast() }

  /// Throws unless the innermost file may name this one.
  ///
  /// - Parameter below: The longest chain of files from it on, if it was read before.
  func check(_ next: Hop, above below: [String]) throws(NamingError) {
    let all = hops + [next]
    if hops.contains(where: { $0.file == next.file }) {
      throw .runsItself(FileChain(hops: all))
    }
    let below = below.dropFirst()
    guard hops.count + below.count <= WorkflowLimits.nestedFiles else {
      throw .tooDeep(FileChain(hops: all, below: Array(below)))
    }
  }
}

/// The chain of files from one to another, for messages.
struct FileChain: Sendable, Hashable, CustomStringConvertible {
  var hops: [NestingChain.Hop]
  /// Files that were read before; the locations that name them are not kept.
  var below: [String] = []

  var description: String { (hops.map(\.name) + below).joined(separator: " → ") }

  /// Each hop but the last, at which the problem itself is reported.
  var related: [Diagnostic.Related] {
    hops.dropLast().dropFirst().map {
      Diagnostic.Related(message: "\"\($0.name)\" is named here", place: $0.naming)
    }
  }
}
