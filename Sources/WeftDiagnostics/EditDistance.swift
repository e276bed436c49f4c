/// The bounded Damerau–Levenshtein distance between two names (optimal string alignment).
///
/// Keeps its table between calls, because there are many of them in a row.
struct EditDistance {
  /// Three rows, used in rotation: the current one and the two above it.
  private var cells: [Int] = []

  /// The number of edits that turn one into the other; `nil` if it is more than `limit`.
  mutating func between(_ left: [UInt32], _ right: [UInt32], atMost limit: Int) -> Int? {
    guard abs(left.count - right.count) <= limit else { return nil }
    return left.withUnsafeBufferPointer { left in
      right.withUnsafeBufferPointer { right in distance(left, right, limit) }
    }
  }

  /// Strips the common prefix and suffix, which cost nothing, and measures the rest.
  private mutating func distance(
    _ left: UnsafeBufferPointer<UInt32>, _ right: UnsafeBufferPointer<UInt32>, _ limit: Int
  ) -> Int? {
    var start = 0
    while start < left.count, start < right.count, left[start] == right[start] { start += 1 }
    var (leftEnd, rightEnd) = (left.count, right.count)
    while leftEnd > start, rightEnd > start, left[leftEnd - 1] == right[rightEnd - 1] {
      leftEnd -= 1
      rightEnd -= 1
    }
    return tableDistance(
      UnsafeBufferPointer(rebasing: left[start..<leftEnd]),
      UnsafeBufferPointer(rebasing: right[start..<rightEnd]), limit)
  }

  private mutating func tableDistance(
    _ left: UnsafeBufferPointer<UInt32>, _ right: UnsafeBufferPointer<UInt32>, _ limit: Int
  ) -> Int? {
    let width = right.count + 1
    if cells.count < 3 * width { cells = [Int](repeating: 0, count: 3 * width) }
    return cells.withUnsafeMutableBufferPointer { cells in
      for column in 0..<width { cells[column] = column }
      for row in 0..<left.count {
        let (this, above) = ((row + 1) % 3 * width, row % 3 * width)
        let twoAbove = (row + 2) % 3 * width
        cells[this] = row + 1
        var least = row + 1
        for column in 0..<right.count {
          let isSame = left[row] == right[column]
          var cost = min(
            cells[above + column + 1] + 1, cells[this + column] + 1,
            cells[above + column] + (isSame ? 0 : 1))
          if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
            cost = min(cost, cells[twoAbove + column - 1] + 1)
          }
          cells[this + column + 1] = cost
          least = min(least, cost)
        }
        // Later rows build on this one, or swap across it at no lower cost.
        guard least <= limit else { return nil }
      }
      let distance = cells[left.count % 3 * width + right.count]
      return distance <= limit ? distance : nil
    }
  }
}
