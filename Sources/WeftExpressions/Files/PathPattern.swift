/// A pattern for paths, as in actions/glob: `*` and `?` within a name, `**` for any number of directories, `[…]` for
/// one of several characters, `\` to escape a character. Names that begin with a dot are not special; case is
/// significant.
struct PathPattern: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case name(NamePattern)
    /// `**`
    case anyDirectories
  }

  private let parts: [Part]

  /// - Parameter text: A relative pattern; `/` separates names.
  init(_ text: String) throws(PathPatternError) {
    guard text.utf8.first != UInt8(ascii: "/") else { throw .absolute(text) }
    var parts: [Part] = []
    for piece in text.unicodeScalars.split(separator: "/") {
      let name = String(piece)
      if name == "." { continue }
      if name == ".." { throw .leadsUp(text) }
      if name != "**" {
        parts.append(.name(NamePattern(name)))
      } else if parts.last != .anyDirectories {
        parts.append(.anyDirectories)
      }
    }
    self.parts = parts
  }

  /// Whether the pattern matches the path or one of its parent directories.
  func covers(_ path: [String]) -> Bool {
    let scalars = path.map { Array($0.unicodeScalars) }
    return (0...path.count).contains { matches(scalars[..<$0]) }
  }

  /// Whether the pattern can cover the directory itself or a path below it.
  func canCover(below directory: [String]) -> Bool {
    let names = directory.map { Array($0.unicodeScalars) }
    for (index, name) in names.enumerated() {
      guard index < parts.count else { return true }
      guard case .name(let pattern) = parts[index] else { return true }
      guard pattern.matches(name) else { return false }
    }
    return true
  }

  /// Matches greedily, backtracking to the last `**` only: earlier ones need no second look.
  private func matches(_ path: ArraySlice<[Unicode.Scalar]>) -> Bool {
    var (part, name) = (0, path.startIndex)
    var retry: (part: Int, name: Int)?
    while name < path.endIndex {
      if part < parts.count {
        switch parts[part] {
        case .anyDirectories:
          retry = (part + 1, name)
          part += 1
          continue
        case .name(let pattern) where pattern.matches(path[name]):
          part += 1
          name += 1
          continue
        case .name: break
        }
      }
      guard let from = retry else { return false }
      (part, name) = (from.part, from.name + 1)
      retry = (from.part, from.name + 1)
    }
    return parts[part...].allSatisfy { $0 == .anyDirectories }
  }
}

/// The reason why a text is not a pattern.
package enum PathPatternError: Error, Sendable, Hashable {
  case absolute(String)
  case leadsUp(String)

  package var message: String {
    switch self {
    case .absolute(let text):
      "the pattern \"\(text)\" is absolute, but files are looked for below a directory"
    case .leadsUp(let text):
      "the pattern \"\(text)\" leads out of the directory below which files are looked for"
    }
  }
}
