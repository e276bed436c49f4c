package import WeftDiagnostics

/// Renders diagnostics for people: the location, the message, the line with a caret, and the help.
///
/// Text from the file, names included, never reaches the terminal as a control sequence: see ``TerminalText``.
package struct DiagnosticText: Sendable, Hashable {
  /// Whether to use ANSI colours (SGR only).
  package var usesColour: Bool
  /// The maximum width of a source line, in columns.
  package var sourceWidth: Int

  package init(usesColour: Bool = false, sourceWidth: Int = 100) {
    self.usesColour = usesColour
    self.sourceWidth = sourceWidth
  }

  /// Renders the diagnostics shown, then the number of those hidden; ends with a newline.
  package func rendered(_ collection: DiagnosticCollection) -> String {
    var text = collection.shown.map(rendered).joined()
    if let remark = collection.remark { text += remark + "\n" }
    return text
  }

  /// Renders one diagnostic; each of its lines ends with a newline.
  package func rendered(_ diagnostic: Diagnostic) -> String {
    let tone = Tone(diagnostic.severity)
    var lines = [
      headline(
        diagnostic.place, diagnostic.subject, diagnostic.severity.rawValue, tone,
        diagnostic.message) + " [\(diagnostic.code)]"
    ]
    lines += excerpt(diagnostic.place, tone)
    if let help = diagnostic.help { lines.append(footnote("help", help)) }
    for related in diagnostic.related {
      guard let place = related.place else {
        lines.append(footnote("note", related.message))
        continue
      }
      lines.append(headline(place, nil, "note", .note, related.message))
      lines += excerpt(place, .note)
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Renders an event of a run like a diagnostic, without a code; each of its lines ends with a newline.
  package func rendered(
    outcome message: String, at place: Diagnostic.Place, help: String? = nil
  ) -> String {
    var lines = [headline(place, nil, Diagnostic.Severity.error.rawValue, .error, message)]
    lines += excerpt(place, .error)
    if let help { lines.append(footnote("help", help)) }
    return lines.joined(separator: "\n") + "\n"
  }

  private func headline(
    _ place: Diagnostic.Place?, _ subject: String?, _ word: String, _ tone: Tone,
    _ message: String
  ) -> String {
    var text = ""
    if let place {
      let position = place.file.position(of: Int(place.range.start))
      let path = TerminalText.harmless(place.file.path)
      text = painted("\(path):\(position.line):\(position.column):", .strong) + " "
    } else if let subject {
      text = painted(TerminalText.harmless(subject) + ":", .strong) + " "
    }
    return text + painted(word + ":", tone) + " "
      + painted(TerminalText.harmless(message), .strong)
  }

  private func excerpt(_ place: Diagnostic.Place?, _ tone: Tone) -> [String] {
    guard let place else { return [] }
    let table = place.file.lineTable
    let line = table.position(of: Int(place.range.start), in: place.file.bytes).line
    let excerpt = SourceExcerpt(
      of: table.content(ofLine: line, in: place.file.bytes), marking: place.range,
      in: place.file.bytes, width: sourceWidth)
    let number = String(line)
    let margin = max(5, number.count)
    let indent = String(repeating: " ", count: excerpt.caretStart)
    let caret = "^" + String(repeating: "~", count: excerpt.caretLength - 1)
    return [
      painted(String(repeating: " ", count: margin - number.count) + number + " |", .margin)
        + (excerpt.text.isEmpty ? "" : " " + excerpt.text),
      painted(String(repeating: " ", count: margin) + " |", .margin)
        + " " + indent + painted(caret, tone),
    ]
  }

  private func footnote(_ word: String, _ text: String) -> String {
    painted("   =", .margin) + " " + painted(word + ":", .strong) + " "
      + TerminalText.harmless(text)
  }

  private func painted(_ text: String, _ tone: Tone) -> String {
    usesColour ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// SGR parameters (ECMA-48 §8.3.117).
  private enum Tone: String {
    case error = "1;31"
    case warning = "1;33"
    case note = "1;36"
    case margin = "34"
    case strong = "1"

    init(_ severity: Diagnostic.Severity) {
      switch severity {
      case .error: self = .error
      case .warning: self = .warning
      case .note: self = .note
      }
    }
  }
}
