import WeftPlatform

/// Where the paths of the command line begin.
enum WorkingDirectory {
  /// As make -C does: before anything else. `nil` stays.
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
