/// Hands out the instance numbers of steps in loop elements, which come and go during the run.
///
/// The steps of one element get consecutive numbers. Returned rows are handed out again for elements of the same
/// size, so that tables indexed by number grow with the elements that run at once and not with all elements.
/// ``SlotQueue`` holds it.
struct InstanceNumbers {
  private var next: Int
  private var free = FreeList()

  /// - Parameter first: The lowest number to hand out; lower ones belong to the plan's own steps.
  init(from first: Int) { next = first }

  /// The lowest number that was never handed out.
  var end: Int { next }

  mutating func take(_ count: Int) -> Range<Int> {
    if let first = free.take(count) { return first..<first + count }
    defer { next += count }
    return next..<next + count
  }

  /// - Parameter row: A row that `take` returned.
  mutating func giveBack(_ row: Range<Int>) {
    guard !row.isEmpty else { return }
    free.put(row.lowerBound, length: row.count)
  }
}

/// A stock of returned rows of consecutive numbers, to be reused for rows of the same length. ``InstanceNumbers`` and
/// ``Scopes`` each hold one.
struct FreeList {
  /// The first numbers of the rows, by length; rows of length one, which are the most frequent, are stored
  /// apart.
  private var single: [Int] = []
  private var longer: [Int: [Int]] = [:]

  /// Removes a row of that length and returns its first number; `nil` if there is none.
  mutating func take(_ length: Int) -> Int? {
    length == 1 ? single.popLast() : longer[length]?.popLast()
  }

  mutating func put(_ first: Int, length: Int) {
    if length == 1 { single.append(first) } else { longer[length, default: []].append(first) }
  }
}

/// A table of a few numbers out of many, such as the steps that run. It finds an entry by the last bits of the
/// number, which is cheaper than a dictionary's hash function that withstands attacks. That is safe because the
/// engine chooses the numbers; a lookup among numbers that are far apart and share those bits would take linear time.
///
/// Open addressing with linear probing, in which entries stay sorted by the slots at which their searches begin (Celis,
/// Robin Hood Hashing, 1986). So a removal ends at the first entry that is where its search begins: removing the oldest
/// of many neighbours takes constant time.
struct InstanceTable<Value: Sendable>: Sendable {
  private struct Entry {
    let key: Int
    var value: Value
  }

  /// A power of two of slots, of which at most three quarters are taken.
  private var entries: [Entry?] = []
  private(set) var count = 0
  var isEmpty: Bool { count == 0 }

  /// The slot at which the search for a number begins. Neighbours stay neighbours: numbers that are in use at the
  /// same time are mostly consecutive, and then each has a slot of its own.
  private func home(of key: Int) -> Int { key & (entries.count - 1) }

  private func next(_ place: Int) -> Int { (place + 1) & (entries.count - 1) }

  /// The slot of the number; `nil` if it is not in the table.
  private func place(of key: Int) -> Int? {
    guard count > 0 else { return nil }
    var place = home(of: key)
    while let entry = entries[place] {
      if entry.key == key { return place }
      guard distance(of: entry.key, to: place) >= distance(of: key, to: place) else { return nil }
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

  /// Changes the value of a number that is in the table.
  mutating func update(_ key: Int, _ change: (inout Value) -> Void) {
    if let place = place(of: key) { change(&entries[place]!.value) }
  }

  /// The number of slots from the one at which the search for a number begins.
  private func distance(of key: Int, to place: Int) -> Int {
    (place - home(of: key)) & (entries.count - 1)
  }

  private mutating func insert(_ new: Entry) {
    var (entry, place) = (new, home(of: new.key))
    while let other = entries[place] {
      if distance(of: other.key, to: place) < distance(of: entry.key, to: place) {
        entries[place] = entry
        entry = other
      }
      place = next(place)
    }
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
    while let entry = entries[place], home(of: entry.key) != place {
      entries[gap] = entry
      entries[place] = nil
      (gap, place) = (place, next(place))
    }
    return removed
  }

  /// The values, in no particular order.
  var values: some Sequence<Value> { entries.lazy.compactMap { $0?.value } }

  /// Returns any entry that satisfies the predicate.
  func first(where isWanted: ((key: Int, value: Value)) -> Bool) -> (key: Int, value: Value)? {
    for case let entry? in entries where isWanted((entry.key, entry.value)) {
      return (entry.key, entry.value)
    }
    return nil
  }
}
