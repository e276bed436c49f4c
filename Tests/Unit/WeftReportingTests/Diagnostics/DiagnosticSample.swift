import WeftDiagnostics

/// A file with an error that has everything, a warning, and a note without a location.
enum DiagnosticSample {
  static let file = SourceFile(
    path: "work flows/ä:1,a.json",
    bytes: Array("{\n  \"日本\": [1, 2],\n  \"日本\": 3\n}\n".utf8))

  static func place(_ start: Int, _ end: Int) -> Diagnostic.Place {
    Diagnostic.Place(file: file, range: SourceRange(start: start, end: end))
  }

  static let diagnostics = [
    Diagnostic(
      .error, code: "W0101", message: "the key \"日本\" is repeated: 100%, {really}",
      place: place(24, 32), help: "remove one\nof the two",
      related: [
        Diagnostic.Related(message: "the first is here", place: place(4, 12)),
        Diagnostic.Related(message: "keys are compared by scalars", place: nil),
      ]),
    Diagnostic(.warning, code: "W0501", message: "see [this](0)", place: place(14, 34)),
    Diagnostic(.note, code: "W0004", message: "nothing else", place: nil),
    Diagnostic(.error, code: "W0101", message: "again", place: place(37, 37)),
  ]
}
