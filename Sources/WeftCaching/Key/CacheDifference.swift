/// One difference between two keys.
package struct CacheDifference: Sendable, Hashable {
  package var part: CachePart
  /// The name of a variable or file; empty if the part has only one value.
  package var name: String
  /// `nil` if it did not exist.
  package var before: CacheContent?
  /// `nil` if it no longer exists.
  package var after: CacheContent?
}

extension CacheKey {
  /// Returns the differences from an earlier key, in the order of parts and names; empty for equal keys.
  package func differences(from earlier: CacheKey) -> [CacheDifference] {
    changedParts(from: earlier).flatMap { part -> [CacheDifference] in
      guard case .values(let before) = earlier[part] ?? .values([]),
        case .values(let after) = self[part] ?? .values([])
      else {
        return [
          CacheDifference(
            part: part, name: "", before: earlier.hash(of: part).map { .long(hash: $0) },
            after: hash(of: part).map { .long(hash: $0) })
        ]
      }
      return CacheKey.differences(part, before, after)
    }
  }

  /// Returns the parts that differ from an earlier key.
  package func changedParts(from earlier: CacheKey) -> [CachePart] {
    CachePart.allCases.filter { hash(of: $0) != earlier.hash(of: $0) }
  }

  /// Requires both lists to be sorted by name.
  private static func differences(
    _ part: CachePart, _ before: [CacheValue], _ after: [CacheValue]
  ) -> [CacheDifference] {
    var found: [CacheDifference] = []
    var (old, new) = (before[...], after[...])
    while let name = [old.first?.name, new.first?.name].compactMap(\.self).min(by: precedes) {
      let was = take(name, from: &old)
      let now = take(name, from: &new)
      if !CacheContent.areSame(was, now) {
        found.append(CacheDifference(part: part, name: name, before: was, after: now))
      }
    }
    return found
  }

  private static func take(
    _ name: String, from values: inout ArraySlice<CacheValue>
  ) -> CacheContent? {
    guard let first = values.first, first.name.utf8.elementsEqual(name.utf8) else { return nil }
    values.removeFirst()
    return first.content
  }

  private static func precedes(_ one: String, _ other: String) -> Bool {
    one.utf8.lexicographicallyPrecedes(other.utf8)
  }
}
