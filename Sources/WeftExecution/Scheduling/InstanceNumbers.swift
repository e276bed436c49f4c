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
