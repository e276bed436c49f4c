import CWeftPlatform

/// Variables by name, each `NAME=value` written out once.
///
/// Names are bytes: as strings, two that differ only in Unicode normalisation would be one.
struct EnvironmentLayer: Sendable {
  private(set) var entries = CStrings()
  /// Where a name's entry stands; `nil` for a name that is removed.
  private var positions: [[UInt8]: Int?] = [:]
  private var longest = 0

  var isEmpty: Bool { positions.isEmpty }
  var names: Dictionary<[UInt8], Int?>.Keys { positions.keys }

  subscript(name: [UInt8]) -> ArraySlice<UInt8>? {
    guard let position = position(of: name) else { return nil }
    let start = entries.starts[position]
    return entries.bytes[start..<start + entries.length(of: position)].dropFirst(name.count + 1)
  }

  func position(of name: [UInt8]) -> Int? { positions[name] ?? nil }

  /// Positions of the entries whose names `isIncluded` accepts, in order.
  func indices(where isIncluded: ([UInt8]) -> Bool) -> [Int] {
    positions.compactMap { isIncluded($0) ? $1 : nil }.sorted()
  }

  func entry(longerThan limit: Int) -> (name: String, size: Int)? {
    guard longest > limit else { return nil }
    for (name, position) in positions {
      guard let position, entries.length(of: position) > limit else { continue }
      return (String(decoding: name, as: UTF8.self), entries.length(of: position))
    }
    return nil
  }

  mutating func set(_ name: String, to value: String?) throws(EnvironmentProblem) {
    if let problem = EnvironmentProblem.inName(name) { throw problem }
    if let value, value.utf8.contains(0) { throw .nulInValue(name: name) }
    let name = Array(name.utf8)
    if position(of: name) != nil { remove(name) }
    positions[name] = .some(nil)
    if let value { append(name, Array(value.utf8)[...]) }
  }

  mutating func append(entryOf other: EnvironmentLayer, at index: Int) {
    let start = other.entries.starts[index]
    append(entry: other.entries.bytes[start..<start + other.entries.length(of: index)])
  }

  /// Takes `NAME=value` unless the name is there already. What has no name is dropped.
  mutating func append(entry: ArraySlice<UInt8>) {
    guard let equals = entry.firstIndex(of: UInt8(ascii: "=")), equals > entry.startIndex else {
      return
    }
    let name = Array(entry[..<equals])
    if positions[name] == nil { append(name, entry[(equals + 1)...]) }
  }

  private mutating func append(_ name: [UInt8], _ value: ArraySlice<UInt8>) {
    positions[name] = entries.count
    entries.append(name + [UInt8(ascii: "=")] + value)
    longest = max(longest, name.count + 1 + value.count)
  }

  private mutating func remove(_ name: [UInt8]) {
    let old = self
    self = EnvironmentLayer()
    for index in old.indices(where: { $0 != name }) { append(entryOf: old, at: index) }
    for (removed, position) in old.positions where position == nil {
      positions[removed] = .some(nil)
    }
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
