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
