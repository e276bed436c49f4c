import CWeftPlatform

/// The environment of programs: one value per name, laid out once in the form that execve takes.
///
/// Build it once for each distinct environment. `setting` shares the existing entries and costs only as much as it
/// adds, so that every step may have a few variables of its own.
package struct EnvironmentBlock: Sendable {
  /// A single object shared by all copies, because blocks are passed around for every step.
  private let parts: Parts

  private final class Parts: Sendable {
    let shared: EnvironmentLayer
    let changes: EnvironmentChanges
    /// The entries of `shared` that `changes` hides.
    let hidden: [Int]
    let searchPath: SearchPath

    init(
      _ shared: EnvironmentLayer, _ changes: EnvironmentChanges, hidden: [Int],
      searchPath: SearchPath
    ) {
      self.shared = shared
      self.changes = changes
      self.hidden = hidden
      self.searchPath = searchPath
    }
  }

  private init(_ layer: EnvironmentLayer) {
    parts = Parts(
      layer, EnvironmentChanges(), hidden: [], searchPath: SearchPath(layer[Self.path]))
  }

  private static let path = Array("PATH".utf8)

  /// An environment without variables.
  package static let empty = EnvironmentBlock(EnvironmentLayer())

  /// The process's current environment. Of two equal names the first counts, as for `getenv`.
  package static func inherited() -> EnvironmentBlock { EnvironmentBlock(.inherited()) }

  /// The directories in which programs named without a slash are searched for.
  package var searchPath: SearchPath { parts.searchPath }

  /// This environment with `variables` added: the last value of a name wins, `nil` removes it.
  package func setting(
    _ variables: [(name: String, value: String?)]
  ) throws(EnvironmentError) -> EnvironmentBlock {
    var (changes, hidden, searchPath) = (parts.changes, parts.hidden, parts.searchPath)
    for (name, value) in variables {
      let name = Array(name.utf8)
      let isNew = try changes.set(name, to: value)
      if isNew, let entry = parts.shared.position(of: name) { hidden.append(entry) }
      if name == Self.path { searchPath = SearchPath(changes[name]) }
    }
    return EnvironmentBlock(parts.shared, changes, hidden, searchPath)
  }

  private init(
    _ shared: EnvironmentLayer, _ changes: EnvironmentChanges, _ hidden: [Int],
    _ searchPath: SearchPath
  ) {
    parts = Parts(shared, changes, hidden: hidden, searchPath: searchPath)
  }

  /// The environment with all entries shared, as a base for further calls of `setting`.
  package func flattened() -> EnvironmentBlock {
    parts.changes.isEmpty ? self : EnvironmentBlock(flatLayer())
  }

  private func flatLayer() -> EnvironmentLayer {
    var whole = EnvironmentLayer()
    for index in 0..<parts.shared.entries.count where !parts.hidden.contains(index) {
      whole.append(entry: parts.shared.entries[index])
    }
    for index in 0..<parts.changes.entries.count {
      whole.append(entry: parts.changes.entries[index])
    }
    return whole
  }

  /// This environment reduced to the names that `isKept` accepts.
  package func filtered(_ isKept: (String) -> Bool) -> EnvironmentBlock {
    let all = flatLayer()
    var kept = EnvironmentLayer()
    for index in all.indices(where: { isKept(String(decoding: $0, as: UTF8.self)) }) {
      kept.append(entry: all.entries[index])
    }
    return EnvironmentBlock(kept)
  }

  /// The value of `name`, with U+FFFD in place of invalid UTF-8 (programs get its exact bytes).
  package subscript(name: String) -> String? {
    let name = Array(name.utf8)
    let value = parts.changes.has(name) ? parts.changes[name] : parts.shared[name]
    return value.map { String(decoding: $0, as: UTF8.self) }
  }

  /// All names, in no particular order.
  package var names: [String] {
    flatLayer().names.map { String(decoding: $0, as: UTF8.self) }
  }

  /// All variables; bytes that are not UTF-8 are replaced.
  package var variables: [String: String] {
    names.reduce(into: [:]) { all, name in all[name] = self[name] }
  }

  package var count: Int {
    parts.shared.entries.count - parts.hidden.count + parts.changes.entries.count
  }

  /// The size that the kernel counts against its limit.
  var kernelBytes: Int {
    let (shared, changes) = (parts.shared.entries, parts.changes.entries)
    return parts.hidden.reduce(shared.kernelBytes + changes.kernelBytes) { total, index in
      total - shared.kernelBytes(of: index)
    }
  }

  /// The first variable too long to pass, name and `=` included in its size.
  func variable(longerThan limit: Int) -> (name: String, size: Int)? {
    parts.changes.entries.variable(longerThan: limit)
      ?? parts.shared.entries.variable(longerThan: limit)
  }

  /// Passes all entries as execve's array, terminated by a null pointer.
  func withPointers<Result>(_ body: (CStringArray) -> Result) -> Result {
    let (shared, changes) = (parts.shared.entries, parts.changes.entries)
    return withUnsafeTemporaryAllocation(
      of: CStringArray.Pointee.self, capacity: shared.count + changes.count + 1
    ) { array in
      shared.withBase { base in
        changes.withBase { changesBase in
          // The last entry replaces a hidden one: the order of an environment has no meaning.
          var next = shared.point(into: array, at: 0, from: base)
          for index in parts.hidden.sorted(by: >) {
            next -= 1
            array[index] = array[next]
          }
          next = changes.point(into: array, at: next, from: changesBase)
          array.initializeElement(at: next, to: nil)
          return body(CStringArray(array.baseAddress!))
        }
      }
    }
  }
}

/// The reason why a variable cannot be part of an environment.
package enum EnvironmentError: Error, Hashable, Sendable {
  case emptyName
  case equalsSign(name: String)
  case nulInName(name: String)
  case nulInValue(name: String)

  package var message: String {
    switch self {
    case .emptyName: "an environment variable has an empty name"
    case .equalsSign(let name):
      "the name of environment variable \"\(escaped(name))\" contains \"=\""
    case .nulInName(let name):
      "the name of environment variable \"\(escaped(name))\" contains a NUL character"
    case .nulInValue(let name):
      "the value of environment variable \"\(escaped(name))\" contains a NUL character"
    }
  }

  package var help: String {
    switch self {
    case .emptyName, .equalsSign, .nulInName:
      "a name has at least one character, and no \"=\" or NUL"
    case .nulInValue:
      "the system ends a value at its first NUL; pass such bytes on stdin or in a file"
    }
  }

  /// The problem with the variable's name, if any.
  package static func inName(_ name: String) -> EnvironmentError? { inName(Array(name.utf8)) }

  static func inName(_ name: [UInt8]) -> EnvironmentError? {
    if name.isEmpty { return .emptyName }
    let text = { String(decoding: name, as: UTF8.self) }
    if name.contains(0) { return .nulInName(name: text()) }
    return name.contains(UInt8(ascii: "=")) ? .equalsSign(name: text()) : nil
  }
}

/// Changes to an ``EnvironmentLayer``: variables that are set, and names that are removed.
///
/// Searched linearly: there are few, and they are built for every step.
struct EnvironmentChanges: Sendable {
  private(set) var entries = CStrings()
  private var removed: [[UInt8]] = []

  var isEmpty: Bool { entries.count == 0 && removed.isEmpty }

  /// Whether the name is set or removed here.
  func has(_ name: [UInt8]) -> Bool { position(of: name) != nil || removed.contains(name) }

  subscript(name: [UInt8]) -> ArraySlice<UInt8>? {
    position(of: name).map { entries[$0].dropFirst(name.count + 1) }
  }

  /// Sets a variable, or removes it if `value` is `nil`.
  ///
  /// - Returns: Whether the name was neither set nor removed before.
  mutating func set(_ name: [UInt8], to value: String?) throws(EnvironmentError) -> Bool {
    if let problem = EnvironmentError.inName(name) { throw problem }
    let isNew = !has(name)
    if let position = position(of: name) { entries.remove(at: position) }
    removed.removeAll { $0 == name }
    guard let value else {
      removed.append(name)
      return isNew
    }
    guard entries.append(name, UInt8(ascii: "="), value) else {
      throw .nulInValue(name: String(decoding: name, as: UTF8.self))
    }
    return isNew
  }

  private func position(of name: [UInt8]) -> Int? {
    (0..<entries.count).first { index in
      let start = entries.starts[index]
      return entries.length(of: index) > name.count
        && entries.bytes[start + name.count] == UInt8(ascii: "=")
        && name.indices.allSatisfy { entries.bytes[start + $0] == name[$0] }
    }
  }
}

/// Variables by name, each laid out once as `NAME=value`.
///
/// Names are bytes: as strings, two names that differ only in Unicode normalisation would be equal.
struct EnvironmentLayer: Sendable {
  private(set) var entries = CStrings()
  /// The position of each name's entry.
  private var positions: [[UInt8]: Int] = [:]

  var names: Dictionary<[UInt8], Int>.Keys { positions.keys }

  subscript(name: [UInt8]) -> ArraySlice<UInt8>? {
    positions[name].map { entries[$0].dropFirst(name.count + 1) }
  }

  func position(of name: [UInt8]) -> Int? { positions[name] }

  /// Positions of the entries whose names `isIncluded` accepts, in order.
  func indices(where isIncluded: ([UInt8]) -> Bool) -> [Int] {
    positions.compactMap { isIncluded($0) ? $1 : nil }.sorted()
  }

  /// Appends `NAME=value` unless the name exists already. An entry without a name is dropped.
  mutating func append(entry: ArraySlice<UInt8>) {
    guard let equals = entry.firstIndex(of: UInt8(ascii: "=")), equals > entry.startIndex else {
      return
    }
    let name = Array(entry[..<equals])
    guard positions[name] == nil else { return }
    positions[name] = entries.count
    entries.append(entry)
  }

  static func inherited() -> EnvironmentLayer {
    var layer = EnvironmentLayer()
    guard var next = weft_environment() else { return layer }
    while let entry = next.pointee {
      let bytes = UnsafeRawBufferPointer(start: entry, count: length(entry))
      layer.append(entry: Array(bytes)[...])
      next += 1
    }
    return layer
  }

  private static func length(_ string: UnsafePointer<CChar>) -> Int {
    var length = 0
    while string[length] != 0 { length += 1 }
    return length
  }
}
