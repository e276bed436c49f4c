/// Files too large to be held in memory.
extension PrivateFolder {
  /// Opens a file to be read; `nil` where there is none.
  package func open(_ name: String) -> Descriptor? {
    guard let (directory, file) = try? place(of: name, makes: false) else { return nil }
    return try? directory.file(file, .reading)
  }

  package func has(_ name: String) -> Bool {
    guard let (directory, file) = try? place(of: name, makes: false) else { return false }
    return directory.has(file)
  }

  /// Copies a file in, under a name that follows from what is in it.
  ///
  /// - Returns: The hash of what was copied; `nil` if it was stopped, and nothing was kept.
  package func keep(
    _ source: Descriptor, stop: StopSwitch, named name: (SHA256.Digest) -> String
  ) throws(UnsafePlace) -> SHA256.Digest? {
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
    do throws(UnsafePlace) {
      let (directory, file) = try place(of: name(digest), makes: true)
      try root.rename(temporary, to: file, in: directory)
      return digest
    } catch {
      try? root.remove(temporary)
      throw error
    }
  }

  /// The same for what processes have left that ended before they had copied all.
  package func removeUnfinishedCopies(before time: Int64) {
    for name in root.names() where PrivateFolder.isUnfinished(name) {
      if let known = root.sizeAndTime(of: name), known.changed < time { try? root.remove(name) }
    }
  }
}
