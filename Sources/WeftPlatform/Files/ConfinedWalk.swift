/// Decides how a path leads on from one directory to the next, and that it does not lead out.
///
/// What a name stands for is found out by who walks, and told: a directory is ``enter(_:)``ed, a link
/// ``follow(_:from:)``ed, as the system would, but for absolute links, which are taken to lead out.
struct ConfinedWalk {
  enum Move: Hashable {
    /// To what has that name in the directory reached; nothing comes after the last.
    case open([UInt8], isLast: Bool)
    /// Back to the directory above.
    case leave
    /// The path ends at the directory reached.
    case end
  }

  /// As Linux has it (`path_resolution(7)`).
  static let linkLimit = 40

  /// The directory reached.
  private(set) var position = ConfinedPath()
  /// The next comes last.
  private var ahead: [[UInt8]]
  private var linkCount = 0
  private var lastLink: ConfinedPath?

  /// - Parameter directory: Where a relative path begins. It was found before; now it is walked to again.
  init(_ path: [UInt8], from directory: ConfinedPath = ConfinedPath()) throws(ConfinedFileFault) {
    ahead = (directory.names + ConfinedWalk.names(of: path)).reversed()
    if path.first == UInt8(ascii: "/") { throw .outside(link: nil) }
    if path.contains(0) { throw .notRead(.nulInPath) }
  }

  mutating func next() throws(ConfinedFileFault) -> Move {
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

  /// The name just met is a directory's, which is open now.
  mutating func enter(_ name: [UInt8]) throws(ConfinedFileFault) {
    guard position.names.count < FileTree.depthLimit else { throw .notRead(.system(.nameTooLong)) }
    position.names.append(name)
  }

  /// The name just met is that of a link to `target`.
  mutating func follow(_ target: [UInt8], from name: [UInt8]) throws(ConfinedFileFault) {
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
