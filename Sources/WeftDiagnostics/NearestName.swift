/// Finds the known name that a mistyped one was probably meant to be.
///
/// Holds the candidates decoded, so that asking again is cheap; still, a question looks at each of
/// them: with very many mistakes ask only for those that are shown.
package struct NearestName: Sendable {
  private struct Candidate: Sendable {
    var name: String
    var scalars: [UInt32]
    /// One bit for each scalar modulo 64; two bits differ at most for one edit.
    var letters: UInt64
  }

  private let candidates: [Candidate]

  package init(_ names: some Sequence<String>) {
    candidates = names.map {
      let scalars = NearestName.folded($0)
      return Candidate(name: $0, scalars: scalars, letters: NearestName.letters(of: scalars))
    }
  }

  /// No suggestion is further away, however long the name.
  private static let mostEdits = 4

  /// The nearest candidate other than `name` itself, or `nil` where none is near enough.
  ///
  /// Best is one that differs in upper and lower case only. Then counts the number of edits
  /// (a letter inserted, left out, replaced, or two neighbours swapped), of which one is allowed
  /// for every three letters; of equals, one that has the same letters in another order, else the
  /// first. Last, one begins with the other.
  package func nearest(to name: String) -> String? {
    let wanted = NearestName.folded(name)
    guard !wanted.isEmpty, wanted.count <= 200 else { return nil }
    let allowed = min(max(1, wanted.count / 3), NearestName.mostEdits)
    for edits in 0...allowed {
      if let found = candidate(within: edits, of: wanted, insteadOf: name) { return found }
    }
    return extending(wanted, insteadOf: name)
  }

  /// The first candidate that takes no more than `edits`, or a later one with the very letters of
  /// `wanted`: swapped letters are the likelier slip. Asking for few at first finds most at
  /// little cost: nearly all others differ in length or in their letters.
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

  /// The candidate of which `wanted` is the beginning, or that is the beginning of `wanted`, with
  /// the least difference in length; three letters must agree.
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
