package import WeftEvents
package import WeftPlatform

/// The directory for recorded runs: `.weft`, with a folder for each run in `runs`.
package struct StateDirectory: Sendable {
  package let path: String
  /// The absolute path, resolved when this was opened.
  package let absolutePath: String
  let directory: PrivateDirectory
  let runs: PrivateDirectory

  /// The environment variable that sets it.
  package static let variable = "WEFT_DIR"
  /// The default name, in the working directory.
  package static let defaultName = ".weft"

  /// Opens the directory; creates it if it is missing and `makes` is true.
  package init(
    _ path: String, makes: Bool, calls: FileCalls = .system
  ) throws(RunFolderError) {
    self.path = path
    absolutePath = StateDirectory.absolute(path)
    do {
      let state = try PrivateDirectory.at(path, makes: makes, calls: calls)
      directory = state
      runs = try state.directory("runs", makes: makes)
      if makes, !state.has(".gitignore") {
        // Keeps version control and other tools from treating journals as sources.
        try state.write(Array("*\n".utf8), to: ".gitignore", surviving: false)
      }
    } catch {
      throw .place(error)
    }
  }

  /// Returns the absolute path of a state directory, which need not exist.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let current = try? FileSystem.currentDirectory() else {
      return path
    }
    return current == "/" ? "/" + path : "\(current)/\(path)"
  }

  /// Returns the absolute path of the folder of a run in a state directory; neither need exist.
  package static func folderPath(of run: RunID, in path: String) -> String {
    "\(absolute(path))/runs/\(run)"
  }

  /// Returns the absolute path of the folder of a run, which need not exist.
  package func folderPath(of run: RunID) -> String { "\(absolutePath)/runs/\(run)" }

  /// The existing runs, the oldest first; runs that began in the same second are in no particular order.
  package var ids: [RunID] {
    runs.names().map { RunID($0) }.filter(\.isWellFormed)
  }

  func folder(of run: RunID) throws(RunFolderError) -> PrivateDirectory {
    guard run.isWellFormed else { throw .unknown(run, in: path) }
    do { return try runs.directory(run.text, makes: false) } catch {
      throw error.error == .notFound ? .unknown(run, in: path) : .place(error)
    }
  }
}
