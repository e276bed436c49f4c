import WeftPlatform

/// The base of paths on the command line.
enum WorkingDirectory {
  /// Changes the directory before anything else, like `make -C`. `nil` changes nothing.
  static func change(to directory: String?) -> Complaint? {
    guard let directory else { return nil }
    do {
      try FileSystem.changeDirectory(to: directory)
      return nil
    } catch {
      return Complaint("cannot change to \"\(directory)\", as -C wants: \(error)")
    }
  }
}
