/// The diagnostics to show: sorted by location, without repetition, at most a limit.
///
/// If there are more than the limit, errors are chosen before warnings and warnings before notes, so that a rejected
/// file always shows why. Those chosen are then sorted by location.
package struct DiagnosticCollection: Sendable, Hashable {
  /// Sorted by file in the order given, then by location; diagnostics without a location come first.
  package let shown: [Diagnostic]
  /// The number of diagnostics beyond the limit.
  package let hiddenCount: Int
  package let errorCount: Int
  package let warningCount: Int

  package static let defaultLimit = 20

  package init(_ diagnostics: [Diagnostic], limit: Int = DiagnosticCollection.defaultLimit) {
    let sorted = diagnostics.sortedByPlace().withoutRepetition()
    errorCount = sorted.count { $0.severity == .error }
    warningCount = sorted.count { $0.severity == .warning }
    shown = sorted.mostSevere(max(limit, 0))
    hiddenCount = sorted.count - shown.count
  }

  /// `… and 3 more`; `nil` if everything is shown.
  package var remark: String? { hiddenCount > 0 ? "… and \(hiddenCount) more" : nil }
}

extension [Diagnostic] {
  /// Sorts diagnostics without a location first, then by file in order of first mention, then by range; stable.
  package func sortedByPlace() -> [Diagnostic] {
    var fileOrder: [SourceFile: Int] = [:]
    let keys = map { diagnostic in
      guard let place = diagnostic.place else { return (-1, UInt32(0), UInt32(0)) }
      let order = fileOrder[place.file] ?? fileOrder.count
      fileOrder[place.file] = order
      return (order, place.range.start, place.range.end)
    }
    return indices.sorted { (keys[$0], $0) < (keys[$1], $1) }.map { self[$0] }
  }

  /// Keeps the first of several diagnostics with the same text and location.
  fileprivate func withoutRepetition() -> [Diagnostic] {
    var said: Set<Saying> = []
    return filter {
      said.insert(
        Saying(code: $0.code, message: $0.message, place: $0.place, subject: $0.subject)
      ).inserted
    }
  }

  fileprivate func mostSevere(_ limit: Int) -> [Diagnostic] {
    guard count > limit else { return self }
    let ranks: [Diagnostic.Severity] = [.error, .warning, .note]
    let chosen = ranks.lazy.flatMap { rank in self.indices.filter { self[$0].severity == rank } }
    return chosen.prefix(limit).sorted().map { self[$0] }
  }
}

/// The properties that make two diagnostics equal to a reader.
private struct Saying: Hashable {
  var code: String
  var message: String
  var place: Diagnostic.Place?
  var subject: String?
}

private func < (
  left: ((Int, UInt32, UInt32), Int), right: ((Int, UInt32, UInt32), Int)
) -> Bool {
  left.0 == right.0 ? left.1 < right.1 : left.0 < right.0
}
