/// Something for each of few numbers out of many, such as the steps that run: found by the number's last bits, where
/// a dictionary takes its keys through a hash function that withstands attacks. The numbers are the engine's own;
/// were they far apart and alike in those bits, to look for one would take as long as there are numbers.
///
/// Open addressing with linear probing; what follows a gap is moved up (Knuth, The Art of Computer Programming,
/// volume 3, section 6.4, algorithm R).
struct InstanceTable<Value: Sendable>: Sendable {
  private struct Entry {
    let key: Int
    var value: Value
  }

  /// A power of two of them, of which no more than three quarters are taken.
  private var entries: [Entry?] = []
  private(set) var count = 0
  var isEmpty: Bool { count == 0 }

  /// Where a number is looked for first. Neighbours stay neighbours: numbers that are in use at the same time
  /// are mostly in a row, and then each has a place of its own.
  private func home(of key: Int) -> Int { key & (entries.count - 1) }

  private func next(_ place: Int) -> Int { (place + 1) & (entries.count - 1) }

  /// Where the number is; `nil` if it is not there.
  private func place(of key: Int) -> Int? {
    guard count > 0 else { return nil }
    var place = home(of: key)
    while let entry = entries[place] {
      if entry.key == key { return place }
      place = next(place)
    }
    return nil
  }

  subscript(key: Int) -> Value? { place(of: key).flatMap { entries[$0]?.value } }

  mutating func set(_ value: Value, for key: Int) {
    if let place = place(of: key) {
      entries[place]?.value = value
      return
    }
    if 4 * (count + 1) > 3 * entries.count { grow() }
    insert(Entry(key: key, value: value))
  }

  private mutating func insert(_ entry: Entry) {
    var place = home(of: entry.key)
    while entries[place] != nil { place = next(place) }
    entries[place] = entry
    count += 1
  }

  private mutating func grow() {
    let old = entries
    entries = Array(repeating: nil, count: max(8, 2 * old.count))
    count = 0
    for case let entry? in old { insert(entry) }
  }

  @discardableResult
  mutating func remove(_ key: Int) -> Value? {
    guard var gap = place(of: key) else { return nil }
    let removed = entries[gap]?.value
    entries[gap] = nil
    count -= 1
    var place = next(gap)
    while let entry = entries[place] {
      // What is at home behind the gap stays: nobody passes the gap to find it.
      let distance = (place - home(of: entry.key)) & (entries.count - 1)
      if distance >= (place - gap) & (entries.count - 1) {
        entries[gap] = entry
        entries[place] = nil
        gap = place
      }
      place = next(place)
    }
    return removed
  }

  /// In no particular order.
  var values: some Sequence<Value> { entries.lazy.compactMap { $0?.value } }

  /// Any of those for which something holds.
  func first(where isWanted: ((key: Int, value: Value)) -> Bool) -> (key: Int, value: Value)? {
    for case let entry? in entries where isWanted((entry.key, entry.value)) {
      return (entry.key, entry.value)
    }
    return nil
  }
}
