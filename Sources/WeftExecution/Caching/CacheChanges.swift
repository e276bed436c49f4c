import WeftCaching
import WeftPlanning

/// The changes that earlier steps make to the files that a step reads.
struct CacheChanges {
  private struct Restored {
    var root: String
    var files: [FileRecord]
    /// The files that the step is known to have made: of these, only the listed ones exist afterwards.
    var made: MadeBefore
    private let paths: Set<String>

    init(_ entry: CacheEntry, at root: String, made: MadeBefore) {
      self.root = root
      self.made = made
      files = entry.files(at: root)
      paths = Set(files.map(\.path))
    }

    func replaces(_ file: FileRecord) -> Bool {
      file.isBelow(root) && (paths.contains(file.path) || made.contains(file))
    }
  }

  /// Files that will exist, whatever exists now.
  private var restored: [Restored] = []
  /// Paths whose future content is not known yet; without a path: anywhere.
  private var unknown: [(root: String?, by: StepAddress)] = []

  /// Files as a step will find them, and the step that may have changed them.
  struct Seen {
    var files: [FileRecord]
    var unknownBy: StepAddress?
  }

  mutating func add(_ other: CacheChanges) {
    for one in other.restored where !restored.contains(where: { $0.root == one.root }) {
      restored.append(one)
    }
    for one in other.unknown where !unknown.contains(where: { $0.root == one.root }) {
      unknown.append(one)
    }
  }

  /// Adds a step that runs and does not declare its outputs.
  mutating func addUnknown(by step: StepAddress) { unknown.append((nil, step)) }

  mutating func addUnknown(at outputs: [[String]], by step: StepAddress) {
    for output in outputs {
      let root = output.joined(separator: "/")
      restored.removeAll { $0.root == root }
      unknown.append((root, step))
    }
  }

  /// Adds a step that is restored from the cache, with its outputs.
  mutating func add(_ entry: CacheEntry, at outputs: [[String]], made: MadeBefore) {
    for output in outputs {
      let root = output.joined(separator: "/")
      unknown.removeAll { $0.root == root }
      restored.removeAll { $0.root == root }
      restored.append(Restored(entry, at: root, made: made))
    }
  }

  /// - Parameter files: The files that exist now.
  func seen(_ files: [FileRecord], by rule: FileRule) -> Seen {
    var seen = Seen(
      files: files.filter { file in !restored.contains { $0.replaces(file) } })
    for one in restored {
      for file in one.files where rule.includes(file.names) {
        switch file.content {
        case .file: seen.files.append(file)
        // The target of the link is only known once it exists.
        case .link: seen.unknownBy = seen.unknownBy ?? unknown.first?.by
        case .directory, .text, .long, .secret, .unset: break
        }
      }
    }
    for (root, step) in unknown where seen.unknownBy == nil {
      guard let root else {
        seen.unknownBy = step
        continue
      }
      let names = FileRecord(path: root, .directory).names
      if rule.includes(names) || rule.canInclude(below: names)
        || seen.files.contains(where: { $0.isBelow(root) })
      {
        seen.unknownBy = step
      }
    }
    return seen
  }
}
