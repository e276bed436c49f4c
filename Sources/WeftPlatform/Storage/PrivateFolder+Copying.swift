/// Operations on files that are too large for memory.
extension PrivateFolder {
  /// Opens a file for reading; `nil` if there is none.
  package func open(_ name: String) -> Descriptor? {
    guard let (directory, file) = try? place(of: name, makes: false) else { return nil }
    return try? directory.file(file, .reading)
  }

  package func has(_ name: String) -> Bool {
    guard let (directory, file) = try? place(of: name, makes: false) else { return false }
    return directory.has(file)
  }

  /// Copies a file into the folder, under a name derived from its content.
  ///
  /// - Returns: The hash of the content; `nil` if it was stopped, in which case nothing is kept.
  package func keep(
    _ source: Descriptor, stop: StopSwitch, named name: (SHA256.Digest) -> String
  ) throws(UnsafePlaceError) -> SHA256.Digest? {
    let temporary = try unfinishedName()
    let copy = try root.file(temporary, .making)
    let digest: SHA256.Digest?
    do throws(SystemError) {
      digest = try source.digest(stop: stop) { (piece) throws(SystemError) in
        try root.calls.writeAll(copy, piece)
      }
    } catch {
      try? root.remove(temporary)
      throw .system(root.path, error)
    }
    guard let digest else {
      try? root.remove(temporary)
      return nil
    }
    do throws(UnsafePlaceError) {
      let (directory, file) = try place(of: name(digest), makes: true)
      try root.rename(temporary, to: file, in: directory)
      return digest
    } catch {
      try? root.remove(temporary)
      throw error
    }
  }

  /// Removes copies that were left unfinished by processes that have ended.
  ///
  /// - Parameter time: Seconds since 1970; younger copies may still be in progress.
  package func removeUnfinishedCopies(before time: Int64) {
    for name in root.names() where PrivateFolder.isUnfinished(name) {
      if let known = root.sizeAndTime(of: name), known.changed < time { try? root.remove(name) }
    }
  }
}
