/// Rows of numbers that were given back, to be handed out again to others of the same length.
struct RowStock {
  /// The first numbers of rows, by their length; rows of one, of which there are most, apart.
  private var single: [Int] = []
  private var longer: [Int: [Int]] = [:]

  /// The first number of a row of that length; `nil` if there is none.
  mutating func take(_ length: Int) -> Int? {
    length == 1 ? single.popLast() : longer[length]?.popLast()
  }

  mutating func put(_ first: Int, length: Int) {
    if length == 1 { single.append(first) } else { longer[length, default: []].append(first) }
  }
}
