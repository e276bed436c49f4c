/// All that a step's result depends on, part by part: two steps of the same key are taken to make the same.
package struct CacheKey: Sendable, Hashable {
  /// What is known of a part.
  package enum Known: Sendable, Hashable {
    /// Everything, in the order of names, no name twice.
    case values([CacheValue])
    /// That it is this one, and no more.
    case hash(String)
  }

  private var parts: [CachePart: Known] = [:]

  package init() {}

  package subscript(part: CachePart) -> Known? { parts[part] }

  /// The parts that it has, in their order.
  package var words: [CachePart] { CachePart.allCases.filter { parts[$0] != nil } }

  package mutating func set(_ part: CachePart, _ content: CacheContent) {
    parts[part] = .values([CacheValue("", content)])
  }

  /// - Precondition: No name is there twice.
  package mutating func set(_ part: CachePart, _ values: [CacheValue]) {
    let sorted = values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    precondition(
      zip(sorted, sorted.dropFirst()).allSatisfy { !$0.name.utf8.elementsEqual($1.name.utf8) },
      "a name is twice in \(part)")
    parts[part] = .values(sorted)
  }

  /// Of a part, only what tells it from others.
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

  /// Of all parts: what a result is found by.
  package var hash: String {
    var bytes = CanonicalBytes()
    bytes.append(CacheKey.format)
    for part in CachePart.allCases {
      if let hash = hash(of: part) { bytes.append(part.rawValue, hash) }
    }
    return bytes.hash
  }

  /// Another one means that whatever was kept is not found any more.
  static let format = "weft step cache 1"
}
