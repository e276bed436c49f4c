import WeftDefinition
import WeftDiagnostics

/// Finds the step or group with an id.
///
/// A hash table with open addressing over the ids' bytes, which are adjacent in one array: large workflows look up half
/// a million names, and `Dictionary<String, _>` takes twice as long. The hash is seeded per process, so that a file
/// cannot be written to cause collisions.
struct StepNames: Sendable {
  enum Meaning: Sendable, Hashable {
    case unknown
    /// Two steps have this id, which is already reported.
    case ambiguous
    /// The node of a step, or the start node of a group.
    case node(Plan.NodeIndex)
  }

  /// An index into `entries` plus 1, and above it a part of the id's hash; 0 is an empty slot. Slots are small, because
  /// fetching one from memory dominates the time of a lookup.
  private struct Slot {
    private static let entryBits: UInt32 = 22
    private var bits: UInt32 = 0

    init() {}

    init(entry: Int, hash: UInt64) {
      bits = Slot.tag(of: hash) | UInt32(entry + 1)
    }

    var isEmpty: Bool { bits == 0 }
    var entry: Int { Int(bits & (1 << Slot.entryBits - 1)) - 1 }

    func mayHold(_ hash: UInt64) -> Bool {
      (bits ^ Slot.tag(of: hash)) >> Slot.entryBits == 0
    }

    private static func tag(of hash: UInt64) -> UInt32 {
      UInt32(truncatingIfNeeded: hash >> 32) & ~(1 << entryBits - 1)
    }
  }

  /// An id and its position in `bytes`.
  private struct Entry {
    var node: Int32
    var start: Int32
    var length: Int16
    var isAmbiguous = false
  }

  private var slots: [Slot]
  private var entries: [Entry] = []
  private var bytes: [UInt8] = []

  /// - Parameter capacity: The maximum number of names, at most slightly more than ``WorkflowLimits/steps``.
  init(capacity: Int) {
    var size = 16
    while size < 2 * capacity { size *= 2 }
    slots = Array(repeating: Slot(), count: size)
    entries.reserveCapacity(capacity)
    bytes.reserveCapacity(8 * capacity)
  }

  /// The ids of each file of an outline, and the problems of those that are not unique in their file.
  static func make(of outline: Outline) -> ([StepNames], [PlacedProblem]) {
    var names = StepNames.withRoom(for: outline)
    var found = FoundProblems()
    for node in outline.nodes.indices {
      let file = outline.files.count == 1 ? 0 : outline.file(of: node)
      guard let id = outline.id(at: node), let first = names[file].insert(id.text, at: node) else {
        continue
      }
      found.file = file
      found.node = node
      let earlier = outline.member(at: first).step.place.value
      let later = outline.member(at: node).step.place.value
      found.append(
        Diagnostic(
          "W0201", "duplicate id \"\(id.text)\"", key: "id",
          help: "ids are unique in a file: rename one of the two",
          related: .init(
            "the first one is here", outline.place(earlier?.id ?? earlier?.step, inFile: file))),
        later?.id ?? later?.step)
    }
    return (names, found.problems)
  }

  private static func withRoom(for outline: Outline) -> [StepNames] {
    guard outline.files.count > 1 else {
      return [StepNames(capacity: outline.steps.count + outline.groups.count)]
    }
    var counts = Array(repeating: 0, count: outline.files.count)
    for step in outline.steps { counts[outline.groups[step.group].file] += 1 }
    for group in outline.groups { counts[group.file] += 1 }
    return counts.map { StepNames(capacity: $0) }
  }

  /// Returns the node that already has the id; that node keeps it, but the id becomes ambiguous.
  mutating func insert(_ id: String, at node: Plan.NodeIndex) -> Plan.NodeIndex? {
    StepNames.withBytes(of: id) { text in
      let hash = NameHash.hash(text)
      let index = slot(of: text, hash)
      guard slots[index].isEmpty else {
        entries[slots[index].entry].isAmbiguous = true
        return Int(entries[slots[index].entry].node)
      }
      precondition(2 * entries.count < slots.count, "more names than were announced")
      slots[index] = Slot(entry: entries.count, hash: hash)
      entries.append(
        Entry(node: Int32(node), start: Int32(bytes.count), length: Int16(text.count)))
      bytes.append(contentsOf: text)
      return nil
    }
  }

  func meaning(of name: String) -> Meaning {
    StepNames.withBytes(of: name) { text in
      let slot = slots[slot(of: text, NameHash.hash(text))]
      guard !slot.isEmpty else { return .unknown }
      let entry = entries[slot.entry]
      return entry.isAmbiguous ? .ambiguous : .node(Int(entry.node))
    }
  }

  /// The slot that holds `text`, or would hold it.
  private func slot(of text: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> Int {
    var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    while !slots[index].isEmpty {
      if slots[index].mayHold(hash), holds(entries[slots[index].entry], text) { break }
      index = (index + 1) & (slots.count - 1)
    }
    return index
  }

  private func holds(_ entry: Entry, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard Int(entry.length) == text.count else { return false }
    let start = Int(entry.start)
    for offset in 0..<text.count where bytes[start + offset] != text[offset] { return false }
    return true
  }

  private static func withBytes<Result>(
    of text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    if let result = text.utf8.withContiguousStorageIfAvailable(body) { return result }
    // A string bridged from Objective-C.
    return Array(text.utf8).withUnsafeBufferPointer(body)
  }
}

/// A multiply-and-fold hash of eight bytes at a time, based on wyhash (Wang Yi, final version 4).
private enum NameHash {
  private static let seed = UInt64.random(in: .min ... .max)

  static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash = seed ^ UInt64(text.count)
    var offset = 0
    while offset < text.count {
      hash = mix(hash ^ word(of: text, at: offset), 0xa076_1d64_78bd_642f)
      offset += 8
    }
    return mix(hash, 0xe703_7ed1_a0b4_28db)
  }

  private static func word(of text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt64 {
    if offset + 8 <= text.count {
      return UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
    return text[offset...].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}

extension Outline {
  /// The id of the step or group that begins at `node`.
  func id(at node: Plan.NodeIndex) -> StepID? {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].id
    case .groupStart(let index): groups[Int(index)].step?.id
    case .groupEnd: nil
    }
  }
}

/// Finds the closest of many names to mistyped ones, for a limited number of mistakes: each lookup visits every
/// candidate, and which mistakes will be shown is known only at the end.
struct Suggestions {
  private let names: () -> [String]
  private var known: NearestName?
  private var questionsLeft: Int?

  /// The maximum number of names that all lookups together may visit.
  private static let looks = 2_000_000

  /// - Parameters:
  ///   - questions: The maximum number of lookups; `nil` for as many as take little time.
  ///   - names: The candidates; called on the first mistake.
  init(answering questions: Int? = nil, _ names: @escaping () -> [String]) {
    self.names = names
    questionsLeft = questions
  }

  mutating func nearest(to name: String) -> String? {
    let known = known ?? begin()
    guard let left = questionsLeft, left > 0 else { return nil }
    questionsLeft = left - 1
    return known.nearest(to: name)
  }

  private mutating func begin() -> NearestName {
    let names = names()
    let nearest = NearestName(names)
    known = nearest
    questionsLeft =
      questionsLeft
      ?? max(DiagnosticCollection.defaultLimit, Suggestions.looks / max(1, names.count))
    return nearest
  }
}

extension Suggestions {
  /// The ids of the steps and groups of a file.
  init(_ outline: Outline, file: Int, answering questions: Int? = nil) {
    self.init(answering: questions) {
      outline.nodes.indices.compactMap {
        outline.files.count == 1 || outline.file(of: $0) == file ? outline.id(at: $0)?.text : nil
      }
    }
  }
}
