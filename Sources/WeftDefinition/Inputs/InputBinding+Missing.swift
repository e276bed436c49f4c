import WeftDiagnostics

/// Required inputs that are not given, reported together with a description of each.
extension InputBinding {
  func rejection(missing: [InputDeclaration], _ inputSource: InputSource) -> InputsError {
    let missed = missing.map { declaration in
      InputFault(
        .missing, declaration.name.text, "input \(quoted(declaration.name.text)) is not given",
        help: InputBinding.giving([declaration], inputSource))
    }
    var diagnostics = faults.map(\.diagnostic)
    if let diagnostic = InputBinding.diagnostic(ofMissing: missing, inputSource) {
      diagnostics.append(diagnostic)
    }
    return InputsError(faults + missed, diagnostics: diagnostics)
  }

  private static func diagnostic(
    ofMissing missing: [InputDeclaration], _ inputSource: InputSource
  ) -> Diagnostic? {
    guard let first = missing.first else { return nil }
    let names = listed(missing.map { quoted($0.name.text) }, conjunction: "and")
    return Diagnostic(
      .error, code: InputFault(.missing, first.name.text, "").code,
      message: missing.count == 1
        ? "input \(names) is required but not given"
        : "inputs \(names) are required but not given",
      place: nil, help: giving(missing, inputSource),
      related: missing.prefix(mostNotes).map { declaration in
        Diagnostic.Related(message: note(on: declaration), place: nil)
      })
  }

  private static let mostNotes = 20

  private static func note(on declaration: InputDeclaration) -> String {
    let about = declaration.schema.description ?? declaration.schema.title
    return "\(declaration.name): "
      + [about, declaration.schema.summary].compactMap(\.self)
      .joined(separator: "; ")
  }

  private static func giving(_ missing: [InputDeclaration], _ inputSource: InputSource) -> String {
    switch inputSource {
    case .commandLine:
      "write " + missing.prefix(mostNotes).map(\.option).joined(separator: " ")
        + (missing.count > 3 ? ", or pass them in a file with --inputs FILE" : "")
    case .program:
      "start it with inputs: ["
        + missing.prefix(mostNotes).map { "\"\($0.name)\": …" }.joined(separator: ", ") + "]"
    }
  }
}
