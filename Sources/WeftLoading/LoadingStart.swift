import WeftPlatform

/// Where a loading starts: what other files must lie in, and where in it the first file lies.
struct LoadingStart {
  /// Or why no other file can be read.
  let directory: Result<ConfiningDirectory, NamingFault>
  /// `nil` for a file that lies nowhere.
  let root: ConfinedPath?

  /// - Parameter path: As the user named the first file; `nil` if it lies nowhere.
  init(of path: String?, in startDirectory: String?) {
    do throws(SystemError) {
      let directory = try ConfiningDirectory(startDirectory ?? ".")
      root = path.flatMap(directory.place)
      self.directory =
        if let path, root == nil { .failure(.rootOutside(path)) } else { .success(directory) }
    } catch {
      directory = .failure(.noStartDirectory(error))
      root = nil
    }
  }
}
