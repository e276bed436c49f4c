import WeftExpressions
import WeftPlatform

/// The files that git ignores, in all repositories that are watched. Reads `.gitignore` files as they are needed.
struct IgnoredFiles {
  private var rules: [WatchScope.Path: IgnoreRules] = [:]

  private static let limitBytes = 1 << 20

  /// - Parameter path: A path in the tree.
  mutating func contains(
    _ path: WatchScope.Path, isDirectory: Bool, in tree: WatchScope.Tree
  ) -> Bool {
    let root = tree.repository
    return rules[root, default: IgnoredFiles.rules(of: root)].ignores(
      Array(path[root.count...]), isDirectory: isDirectory, below: tree.path.count - root.count)
  }

  private static func rules(of root: WatchScope.Path) -> IgnoreRules {
    IgnoreRules(base: text(root + [".git", "info", "exclude"]) ?? "") { directory in
      text(root + directory + [IgnoreRules.fileName])
    }
  }

  private static func text(_ path: WatchScope.Path) -> String? {
    let bytes = try? FileReading.bytes(
      ofRegularFile: "/" + path.joined(separator: "/"), limit: limitBytes)
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The nearest directory, the path itself or above, with an entry `.git`.
  static func repository(around path: WatchScope.Path) -> WatchScope.Path? {
    for count in (0...path.count).reversed() {
      let root = Array(path.prefix(count))
      if FileSystem.isTrusted("/" + (root + [".git"]).joined(separator: "/")) != nil { return root }
    }
    return nil
  }
}
