/// Finds the known name that a mistyped name was probably meant to be.
///
/// Keeps the candidates decoded, so that repeated calls are cheap. Still, each call looks at all of them: if there are
/// very many mistakes, call it only for those that are shown.
package struct NearestName: Sendable {
  private struct Candidate: Sendable {
    var name: String
    var scalars: [UInt32]
    /// One bit for each scalar modulo 64; one edit changes at most two bits.
    var letters: UInt64
  }

  private let candidates: [Candidate]

  package init(_ names: some Sequence<String>) {
    candidates = names.map {
      let scalars = NearestName.folded($0)
      return Candidate(name: $0, scalars: scalars, letters: NearestName.letters(of: scalars))
    }
  }

  /// The upper limit on edits for a suggestion, however long the name.
  private static let mostEdits = 4

  /// The nearest candidate other than `name` itself; `nil` if none is near enough.
  ///
  /// A candidate that differs only in case is best. Next comes the number of edits (a letter inserted, deleted or
  /// replaced, or two neighbours swapped); one edit is allowed for every three letters. Ties go to a candidate with the
  /// same letters in a different order, then to the first. Last comes a candidate that is a prefix of the name, or the
  /// reverse.
  package func nearest(to name: String) -> String? {
    let wanted = NearestName.folded(name)
    guard !wanted.isEmpty, wanted.count <= 200 else { return nil }
    let allowed = min(max(1, wanted.count / 3), NearestName.mostEdits)
    for edits in 0...allowed {
      if let found = candidate(within: edits, of: wanted, insteadOf: name) { return found }
    }
    return extending(wanted, insteadOf: name)
  }

  /// The first candidate within `edits`, or a later one with exactly the letters of `wanted`, because swapped letters
  /// are the likelier typo. Starting with few edits finds most candidates cheaply: nearly all others differ in length
  /// or in their letters.
  private func candidate(
    within edits: Int, of wanted: [UInt32], insteadOf name: String
  ) -> String? {
    let letters = NearestName.letters(of: wanted)
    var distance = EditDistance()
    var first: String?
    for candidate in candidates {
      guard abs(candidate.scalars.count - wanted.count) <= edits,
        (candidate.letters ^ letters).nonzeroBitCount <= 2 * edits,
        edits < max(wanted.count, candidate.scalars.count),
        distance.between(wanted, candidate.scalars, atMost: edits) != nil,
        !candidate.name.utf8.elementsEqual(name.utf8)
      else { continue }
      if candidate.scalars.sorted() == wanted.sorted() { return candidate.name }
      first = first ?? candidate.name
    }
    return first
  }

  /// The candidate that is a prefix of `wanted`, or the reverse, with the least difference in length; at least three
  /// letters must match.
  private func extending(_ wanted: [UInt32], insteadOf name: String) -> String? {
    var best: (name: String, difference: Int)?
    for candidate in candidates {
      let shared = min(candidate.scalars.count, wanted.count)
      let difference = abs(candidate.scalars.count - wanted.count)
      guard shared >= 3, difference > 0, difference < best?.difference ?? .max,
        candidate.scalars.prefix(shared).elementsEqual(wanted.prefix(shared))
      else { continue }
      best = (candidate.name, difference)
    }
    return best?.name
  }

  private static func folded(_ name: String) -> [UInt32] {
    if name.utf8.allSatisfy({ $0 < 0x80 }) {
      return name.utf8.map { UInt32((0x41...0x5A).contains($0) ? $0 + 0x20 : $0) }
    }
    return name.lowercased().unicodeScalars.map(\.value)
  }

  private static func letters(of scalars: [UInt32]) -> UInt64 {
    scalars.reduce(0) { $0 | 1 << UInt64($1 & 63) }
  }
}

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
