/// The Damerau–Levenshtein distance of neighbours (optimal string alignment), bounded.
/// Only three rows of the table are kept.
struct EditDistance {
  private var twoAbove: [Int] = []
  private var above: [Int]
  private var row: [Int]

  private init(width: Int) {
    above = Array(0...width)
    row = above
  }

  /// Edits that turn one into the other, or `nil` where it takes more than `limit`.
  static func between(_ left: [UInt32], _ right: [UInt32], atMost limit: Int) -> Int? {
    guard abs(left.count - right.count) <= limit else { return nil }
    var table = EditDistance(width: right.count)
    for i in left.indices {
      guard table.fillRow(i + 1, left, right) <= limit else { return nil }
    }
    let distance = table.above[right.count]
    return distance <= limit ? distance : nil
  }

  /// Returns the least number of the row.
  private mutating func fillRow(_ i: Int, _ left: [UInt32], _ right: [UInt32]) -> Int {
    row[0] = i
    var least = i
    for j in right.indices {
      row[j + 1] = cell(i, j + 1, left, right)
      least = min(least, row[j + 1])
    }
    (twoAbove, above, row) = (above, row, twoAbove.isEmpty ? row : twoAbove)
    return least
  }

  private func cell(_ i: Int, _ j: Int, _ left: [UInt32], _ right: [UInt32]) -> Int {
    let isSame = left[i - 1] == right[j - 1]
    var cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (isSame ? 0 : 1))
    if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
      cost = min(cost, twoAbove[j - 2] + 1)
    }
    return cost
  }
}
