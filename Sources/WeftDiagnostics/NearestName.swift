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
