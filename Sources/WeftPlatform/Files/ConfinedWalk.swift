/// Decides how a path continues from one directory to the next, and that it stays inside.
///
/// The caller looks up each name and reports its kind: a directory by ``enter(_:)``, a link by ``follow(_:from:)``.
/// Links are followed as by the system, except that absolute links count as leading out.
struct ConfinedWalk {
  enum Move: Hashable {
    /// Open the entry of that name in the current directory; nothing follows the last one.
    case open([UInt8], isLast: Bool)
    /// Return to the parent directory.
    case leave
    /// The path ends at the current directory.
    case end
  }

  /// The limit of Linux (`path_resolution(7)`).
  static let linkLimit = 40

  /// The current directory.
  private(set) var position = ConfinedPath()
  /// The names still to come, in reverse order.
  private var ahead: [[UInt8]]
  private var linkCount = 0
  private var lastLink: ConfinedPath?

  /// - Parameter directory: The start of a relative path, found earlier; the walk passes through it again.
  init(_ path: [UInt8], from directory: ConfinedPath = ConfinedPath()) throws(ConfinedFileError) {
    ahead = (directory.names + ConfinedWalk.names(of: path)).reversed()
    if path.first == UInt8(ascii: "/") { throw .outside(link: nil) }
    if path.contains(0) { throw .notRead(.nulInPath) }
  }

  mutating func next() throws(ConfinedFileError) -> Move {
    while let name = ahead.popLast() {
      switch name {
      // `x/` and `x/.` are `x` if that is a directory.
      case [], [UInt8(ascii: ".")]: continue
      case [UInt8(ascii: "."), UInt8(ascii: ".")]:
        guard position.names.popLast() != nil else { throw .outside(link: lastLink) }
        return .leave
      default: return .open(name, isLast: ahead.isEmpty)
      }
    }
    return .end
  }

  /// Reports that the last name is a directory, which is now open.
  mutating func enter(_ name: [UInt8]) throws(ConfinedFileError) {
    guard position.names.count < FileTree.depthLimit else { throw .notRead(.system(.nameTooLong)) }
    position.names.append(name)
  }

  /// Reports that the last name is a link to `target`.
  mutating func follow(_ target: [UInt8], from name: [UInt8]) throws(ConfinedFileError) {
    linkCount += 1
    guard linkCount <= ConfinedWalk.linkLimit else { throw .tooManyLinks }
    lastLink = position.appending(name)
    if target.first == UInt8(ascii: "/") { throw .outside(link: lastLink) }
    ahead += ConfinedWalk.names(of: target).reversed()
  }

  private static func names(of path: [UInt8]) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
  }
}
