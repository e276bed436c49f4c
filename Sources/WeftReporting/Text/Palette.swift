import WeftEvents

/// The colours and symbols of the displays.
package struct Palette: Sendable, Hashable {
  /// SGR parameters (ECMA-48 §8.3.117).
  package enum Tone: String {
    case good = "32"
    case bad = "31"
    case doubtful = "33"
    case faint = "2"
    case strong = "1"
  }

  package var usesColour: Bool
  package var usesUnicode: Bool

  package init(usesColour: Bool, usesUnicode: Bool) {
    self.usesColour = usesColour
    self.usesUnicode = usesUnicode
  }

  package func painted(_ text: String, _ tone: Tone) -> String {
    usesColour ? "\u{1B}[\(tone.rawValue)m\(text)\u{1B}[0m" : text
  }

  var succeeded: String { painted(usesUnicode ? "✓" : "ok", .good) }
  var failed: String { painted(usesUnicode ? "✗" : "FAILED", .bad) }
  var tolerated: String { painted(usesUnicode ? "✗" : "failed", .doubtful) }
  var cancelled: String { painted(usesUnicode ? "⊘" : "cancelled", .doubtful) }
  var skipped: String { painted(usesUnicode ? "−" : "skipped", .faint) }

  /// Returns the symbol of a step or group that has ended.
  func sign(_ outcome: Outcome, _ conclusion: Outcome) -> String {
    switch outcome {
    case .success: succeeded
    case .failure: conclusion == .success ? tolerated : failed
    case .cancelled: cancelled
    case .skipped: skipped
    }
  }

  /// The symbol before a sentence that already says "failed".
  var failedSign: String { usesUnicode ? failed + " " : "" }
  var toleratedSign: String { usesUnicode ? tolerated + " " : "" }
  /// The separator between the parts of the counter.
  var separator: String { usesUnicode ? " · " : ", " }
  /// The mark for what is left out.
  var ellipsis: String { usesUnicode ? "…" : "..." }
  /// The margin before a line of a step's output.
  var margin: String { painted(usesUnicode ? "│" : "|", .faint) }
}
