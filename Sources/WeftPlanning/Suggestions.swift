import WeftDefinition
import WeftDiagnostics

/// Finds the closest of many names to mistyped ones, for a limited number of mistakes: each lookup visits every
/// candidate, and which mistakes will be shown is known only at the end.
struct Suggestions {
  private let names: () -> [String]
  private var known: NearestName?
  private var questionsLeft: Int?

  /// The maximum number of names that all lookups together may visit.
  private static let looks = 2_000_000

  /// - Parameters:
  ///   - questions: The maximum number of lookups; `nil` for as many as take little time.
  ///   - names: The candidates; called on the first mistake.
  init(answering questions: Int? = nil, _ names: @escaping () -> [String]) {
    self.names = names
    questionsLeft = questions
  }

  mutating func nearest(to name: String) -> String? {
    let known = known ?? begin()
    guard let left = questionsLeft, left > 0 else { return nil }
    questionsLeft = left - 1
    return known.nearest(to: name)
  }

  private mutating func begin() -> NearestName {
    let names = names()
    let nearest = NearestName(names)
    known = nearest
    questionsLeft =
      questionsLeft
      ?? max(DiagnosticCollection.defaultLimit, Suggestions.looks / max(1, names.count))
    return nearest
  }
}

extension Suggestions {
  /// The ids of the steps and groups of a file.
  init(_ outline: Outline, file: Int, answering questions: Int? = nil) {
    self.init(answering: questions) {
      outline.nodes.indices.compactMap {
        outline.files.count == 1 || outline.file(of: $0) == file ? outline.id(at: $0)?.text : nil
      }
    }
  }
}
