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
