import WeftCaching
import WeftPlanning

/// The files, links and directories of a step's known results, found in the cache only if something asks for them.
final class KnownOutputs {
  private let find: () -> [CacheEntry]
  private lazy var outputs = EarlierOutputs(find())

  init(_ find: @escaping () -> [CacheEntry]) { self.find = find }

  func contains(_ file: FileRecord) -> Bool { outputs.contains(file) }
}

/// The changes that earlier steps make to the files that a step reads.
///
/// A tree of paths: of thousands of changes, a step finds those that concern it. What a step keeps it shares with the
/// steps before it.
struct CacheChanges {
  private final class Restored {
    let root: String
    let files: [FileRecord]
    /// The files that the step is known to have made: of these, only the listed ones exist afterwards.
    let made: KnownOutputs
    /// The step and its number among those that change something, for links: what a link leads to is not known yet.
    let links: Unknown
    private let paths: Set<String>

    init(_ entry: CacheEntry, at root: String, made: KnownOutputs, links: Unknown) {
      self.root = root
      self.links = links
      self.made = made
      files = entry.files(at: root)
      paths = Set(files.map(\.path))
    }

    func replaces(_ file: FileRecord) -> Bool {
      file.isBelow(root) && (paths.contains(file.path) || made.contains(file))
    }
  }

  private final class Unknown {
    let number: Int
    let by: StepAddress
    /// The changes to files anywhere that come before the step.
    let after: NumberSet

    init(number: Int, by step: StepAddress, after: NumberSet) {
      self.number = number
      by = step
      self.after = after
    }
  }

  /// The changes at a path and below it.
  private final class Place: SharedMapValue {
    /// Files that will exist, whatever exists now.
    let restored: Restored?
    /// The step whose changes to all files here are not known yet; at the top, to files anywhere.
    let unknown: Unknown?
    let inside: SharedMap<Place>

    init(
      restored: Restored? = nil, unknown: Unknown? = nil, inside: SharedMap<Place> = SharedMap()
    ) {
      self.restored = restored
      self.unknown = unknown
      self.inside = inside
    }

    /// Returns this place with another one at a path below it.
    func changing(at path: ArraySlice<String>, _ change: (Place) -> Place) -> Place {
      guard let name = path.first else { return change(self) }
      var inside = inside
      inside[name] = (inside[name] ?? Place()).changing(at: path.dropFirst(), change)
      return Place(restored: restored, unknown: unknown, inside: inside)
    }

    func merged(with other: Place) -> Place {
      if self === other { return self }
      let (restored, unknown) = (restored ?? other.restored, unknown ?? other.unknown)
      var inside = inside
      inside.merge(other.inside)
      for place in [self, other]
      where place.restored === restored && place.unknown === unknown
        && place.inside.isSame(as: inside)
      {
        return place
      }
      return Place(restored: restored, unknown: unknown, inside: inside)
    }

    /// Calls `body` with the places below a path where a step may read files.
    func visit(at path: [String] = [], by rule: FileRule, _ body: (Place) -> Void) {
      if inside.isEmpty { return }
      func visit(_ name: String, _ place: Place) {
        let path = path + [name]
        guard rule.includes(path) || rule.canInclude(below: path) else { return }
        body(place)
        place.visit(at: path, by: rule, body)
      }
      guard let names = rule.onlyNames(in: path) else { return inside.visit(visit) }
      for name in names { inside[name].map { visit(name, $0) } }
    }

    func replaces(_ file: FileRecord, at path: ArraySlice<String>) -> Bool {
      if restored?.replaces(file) == true { return true }
      guard let name = path.first, let place = inside[name] else { return false }
      return place.replaces(file, at: path.dropFirst())
    }
  }

  private var top = Place()
  /// The numbers of the changes to files anywhere.
  private(set) var anywhere = NumberSet()
  /// The number of the next unknown changes. The first ones that a step may see are reported.
  private(set) var next: Int

  init(next: Int) { self.next = next }

  /// Files as a step will find them, and the step that may have changed them.
  struct Seen {
    var files: [FileRecord]
    var unknownBy: StepAddress?
  }

  mutating func add(_ other: CacheChanges) {
    top = top.merged(with: other.top)
    anywhere.formUnion(other.anywhere)
  }

  /// Adds a step that runs and does not declare its outputs.
  mutating func addUnknown(by step: StepAddress) {
    let number = next
    addUnknown(at: [[]], by: step, after: anywhere)
    anywhere.insert(number)
  }

  /// - Parameter after: The changes to files anywhere that come before the step.
  mutating func addUnknown(
    at outputs: [[String]], by step: StepAddress, after: NumberSet
  ) {
    for output in outputs {
      top = top.changing(at: output[...]) { place in
        let unknown = place.unknown ?? Unknown(number: next, by: step, after: after)
        return Place(unknown: unknown, inside: place.inside)
      }
      next += 1
    }
  }

  /// Adds a step that is restored from the cache, with its outputs.
  mutating func add(
    _ entry: CacheEntry, at outputs: [[String]], made: KnownOutputs, by step: StepAddress,
    after: NumberSet
  ) {
    for output in outputs {
      let restored = Restored(
        entry, at: output.joined(separator: "/"), made: made,
        links: Unknown(number: next, by: step, after: after))
      top = top.changing(at: output[...]) { Place(restored: restored, inside: $0.inside) }
      next += 1
    }
  }

  /// Whether each of these paths is, or is below, an output of a step that comes after all changes to files anywhere: it
  /// decides what is there, whatever was changed before.
  private func decides(_ paths: [[String]]) -> Bool {
    paths.allSatisfy { path in
      var place = top
      for name in path {
        guard let inside = place.inside[name] else { return false }
        place = inside
        let change = place.unknown ?? place.restored?.links
        if let change, anywhere.isSubset(of: change.after) { return true }
      }
      return false
    }
  }

  /// - Parameters:
  ///   - files: The files that exist now.
  ///   - literal: The paths that the rule includes, with all below them; `nil` if it has patterns.
  func seen(_ files: [FileRecord], by rule: FileRule, literal: [[String]]?) -> Seen {
    var seen = Seen(files: files.filter { !top.replaces($0, at: $0.names[...]) })
    // A step that says what it makes is a better answer than one that may make anything.
    var unknown: Unknown?
    func note(_ found: Unknown) {
      if found.number < unknown?.number ?? .max { unknown = found }
    }
    top.visit(by: rule) { place in
      place.unknown.map(note)
      guard let restored = place.restored else { return }
      for file in restored.files where rule.includes(file.names) {
        switch file.content {
        case .file: seen.files.append(file)
        case .link: note(restored.links)
        case .directory, .text, .long, .secret, .unset: break
        }
      }
    }
    let anything = literal.map(decides) == true ? nil : top.unknown
    seen.unknownBy = (unknown ?? anything)?.by
    return seen
  }
}

/// A set of small numbers, as bits.
struct NumberSet: Sendable {
  private var words: [UInt64] = []
  /// Whether there were larger numbers than are kept; then it is a subset of none.
  private var isCut = false

  /// So that the sets of a plan with many steps stay small.
  private static let limit = 20_000

  mutating func insert(_ number: Int) {
    guard number < NumberSet.limit else {
      isCut = true
      return
    }
    while words.count <= number >> 6 { words.append(0) }
    words[number >> 6] |= 1 << UInt64(number & 63)
  }

  mutating func formUnion(_ other: NumberSet) {
    isCut = isCut || other.isCut
    if words.isEmpty {
      words = other.words
      return
    }
    for (index, word) in other.words.enumerated() {
      if index == words.count { words.append(0) }
      if words[index] | word != words[index] { words[index] |= word }
    }
  }

  func isSubset(of other: NumberSet) -> Bool {
    !isCut
      && words.indices.allSatisfy { index in
        words[index] & ~(index < other.words.count ? other.words[index] : 0) == 0
      }
  }
}
