package import WeftExecution
package import WeftPlatform

/// Where the records of runs are kept: `.weft`, with a folder for each run in `runs`.
package struct StateDirectory: Sendable {
  package let path: String
  /// The path from the root, by the directory in which the process was when this was opened.
  package let absolutePath: String
  let directory: PrivateDirectory
  let runs: PrivateDirectory

  /// The variable that names it.
  package static let variable = "WEFT_DIR"
  /// What it is called where nobody has named it, in the directory in which the engine stands.
  package static let defaultName = ".weft"

  /// Opens it, and makes it where it is missing and `makes` says so.
  package init(
    _ path: String, makes: Bool, calls: FileCalls = .system
  ) throws(RunFolderFault) {
    self.path = path
    absolutePath = StateDirectory.absolute(path)
    do {
      let state = try PrivateDirectory.at(path, makes: makes, calls: calls)
      directory = state
      runs = try state.directory("runs", makes: makes)
      if makes, !state.has(".gitignore") {
        // No tool is to take records for sources.
        try state.write(Array("*\n".utf8), to: ".gitignore", surviving: false)
      }
    } catch {
      throw .place(error)
    }
  }

  /// The path from the root of a state directory that need not be there yet.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let current = try? FileSystem.currentDirectory() else {
      return path
    }
    return current == "/" ? "/" + path : "\(current)/\(path)"
  }

  /// The path from the root of the folder that a run has, or will have, in a state directory.
  package static func folderPath(of run: RunID, in path: String) -> String {
    "\(absolute(path))/runs/\(run)"
  }

  /// The path from the root of the folder that a run has, or will have.
  package func folderPath(of run: RunID) -> String { "\(absolutePath)/runs/\(run)" }

  /// The runs that are there, the oldest first; of those that began in the same second, any first.
  package var ids: [RunID] {
    runs.names().map { RunID($0) }.filter(\.isWellFormed)
  }

  func folder(of run: RunID) throws(RunFolderFault) -> PrivateDirectory {
    guard run.isWellFormed else { throw .unknown(run, in: path) }
    do { return try runs.directory(run.text, makes: false) } catch {
      throw error.error == .notFound ? .unknown(run, in: path) : .place(error)
    }
  }
}
