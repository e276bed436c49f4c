import WeftPlatform

/// The base of paths on the command line.
enum WorkingDirectory {
  /// Changes the directory before anything else, like `make -C`. `nil` changes nothing.
  static func change(to directory: String?) -> CommandError? {
    guard let directory else { return nil }
    do {
      try FileSystem.changeDirectory(to: directory)
      return nil
    } catch {
      return CommandError("cannot change to \"\(directory)\", as -C wants: \(error)")
    }
  }
}
