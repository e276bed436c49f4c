import WeftPlatform

/// The start of a load: the directory that must contain the other files, and the location of the first file in it.
struct LoadingStart {
  /// The directory, or why no other file can be read.
  let directory: Result<Directory, NamingError>
  /// `nil` for a file without a path.
  let root: ConfinedPath?

  /// - Parameter path: The path of the first file as the user wrote it; `nil` if it has none.
  init(of path: String?, in startDirectory: String?) {
    do throws(SystemError) {
      let start = startDirectory ?? "."
      // A deleted directory can still be opened.
      _ = try ConfinedPath(resolving: start)
      let directory = try Directory(start, listable: false)
      root = path.flatMap { ConfinedPath(of: $0, below: start) }
      self.directory =
        if let path, root == nil { .failure(.rootOutside(path)) } else { .success(directory) }
    } catch {
      directory = .failure(.noStartDirectory(error))
      root = nil
    }
  }
}
