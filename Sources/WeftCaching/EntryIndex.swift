/// The names of the entries of one step, so that those of an element are found among thousands.
struct EntryIndex {
  private var known: Set<String> = []
  /// The names by the hash of the element; under `nil` outside of loops.
  private var byElement: [String?: [String]] = [:]
  private var byOutput: [String: [String]] = [:]

  func contains(_ name: String) -> Bool { known.contains(name) }

  mutating func add(_ entry: CacheEntry, named name: String) {
    guard known.insert(name).inserted else { return }
    byElement[entry.key.hash(of: .element), default: []].append(name)
    for output in entry.outputs { byOutput[output, default: []].append(name) }
  }

  func names(ofElement element: String?, making outputs: [String]) -> Set<String> {
    var names = Set(byElement[element] ?? [])
    for output in outputs { names.formUnion(byOutput[output] ?? []) }
    return names
  }
}
