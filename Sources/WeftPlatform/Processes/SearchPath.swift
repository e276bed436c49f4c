/// The directories of a PATH, in which programs named without a slash are searched for.
///
/// Nothing is cached between searches: a step may install a program that the next one runs, in a directory that
/// precedes earlier results. A search takes about a microsecond per directory.
package struct SearchPath: Hashable, Sendable {
  /// Absolute directories, in order.
  package private(set) var directories: [String] = []
  /// Elements that name no fixed directory (empty, `.`, relative): their programs would depend on where a step runs.
  /// They are not searched, and commands that show the plan should say so.
  package private(set) var skipped: [String] = []
  /// Whether there is no PATH, so that the system's default is used (POSIX `confstr(_CS_PATH)`, as `execvp` does).
  package let isDefault: Bool

  package init(_ value: String?) {
    self.init(value.map { Array($0.utf8)[...] })
  }

  init(_ value: ArraySlice<UInt8>?) {
    isDefault = value == nil
    guard let value else {
      directories = ["/bin", "/usr/bin"]
      return
    }
    let colon = UInt8(ascii: ":")
    for element in value.split(separator: colon, omittingEmptySubsequences: false) {
      let text = String(decoding: element, as: UTF8.self)
      if element.first == UInt8(ascii: "/") {
        directories.append(text)
      } else {
        skipped.append(text)
      }
    }
  }

  /// A description of the search for messages.
  var searched: String {
    let list = directories.map { escaped($0) }.joined(separator: ":")
    let base = isDefault ? "PATH is not set, searched \(list)" : "searched PATH \"\(list)\""
    guard !skipped.isEmpty else { return base }
    let names = skipped.map { "\"\(escaped($0))\"" }.joined(separator: ", ")
    return base + ", skipped its relative element\(skipped.count == 1 ? "" : "s") \(names)"
  }

  /// The path to execute for `name`. A name with a slash is returned unchanged: the child resolves it after it has
  /// entered its directory. Among candidates, the first executable one is chosen.
  func resolve(_ name: String) throws(SpawnError) -> String {
    if name.utf8.contains(UInt8(ascii: "/")) { return name }
    if name.isEmpty { throw .emptyProgramName }
    var refused: String?
    for directory in directories {
      let candidate = directory + "/" + name
      switch FileKind.ofProgram(at: candidate) {
      case .executable: return candidate
      case .refused: refused = refused ?? candidate
      case .absent, .directory: continue
      }
    }
    if let refused { throw ProgramDiagnosis.notExecutable(refused, as: name) }
    throw .programNotFound(name: name, searched: self)
  }
}
