/// Everything that a step's result depends on, by part: steps with equal keys are assumed to have equal results.
package struct CacheKey: Sendable, Hashable {
  /// The known content of a part.
  package enum Known: Sendable, Hashable {
    /// All values, sorted by name, without duplicates.
    case values([CacheValue])
    /// Only the hash.
    case hash(String)
  }

  private var parts: [CachePart: Known] = [:]

  package init() {}

  package subscript(part: CachePart) -> Known? { parts[part] }

  /// The parts that are set, in order.
  package var words: [CachePart] { CachePart.allCases.filter { parts[$0] != nil } }

  package mutating func set(_ part: CachePart, _ content: CacheContent) {
    parts[part] = .values([CacheValue("", content)])
  }

  /// - Precondition: No name occurs twice.
  package mutating func set(_ part: CachePart, _ values: [CacheValue]) {
    let sorted = values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    precondition(
      zip(sorted, sorted.dropFirst()).allSatisfy { !$0.name.utf8.elementsEqual($1.name.utf8) },
      "a name is twice in \(part)")
    parts[part] = .values(sorted)
  }

  /// Sets only the hash of a part.
  package mutating func set(_ part: CachePart, hash: String) { parts[part] = .hash(hash) }

  package func hash(of part: CachePart) -> String? {
    switch parts[part] {
    case .hash(let hash): return hash
    case .values(let values):
      var bytes = CanonicalBytes()
      bytes.append(part.rawValue)
      bytes.append(count: values.count)
      for value in values {
        bytes.append(value.name)
        value.content.append(to: &bytes)
      }
      return bytes.hash
    case nil: return nil
    }
  }

  /// The hash of all parts, which identifies a result.
  package var hash: String {
    var bytes = CanonicalBytes()
    bytes.append(CacheKey.format)
    for part in CachePart.allCases {
      if let hash = hash(of: part) { bytes.append(part.rawValue, hash) }
    }
    return bytes.hash
  }

  /// A different format makes all earlier results unreachable.
  static let format = "weft step cache 1"
}
