import WeftDiagnostics

/// Finds names close to mistyped ones, as often as messages are shown: each lookup reads a directory.
struct SuggestionBudget {
  private var questionsLeft = DiagnosticCollection.defaultLimit

  mutating func nearest(to name: String, in names: () -> [String]) -> String? {
    guard questionsLeft > 0 else { return nil }
    questionsLeft -= 1
    return NearestName(names()).nearest(to: name)
  }
}
