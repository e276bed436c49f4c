import CWeftPlatform

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
