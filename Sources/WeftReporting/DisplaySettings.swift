import WeftEncoding
import WeftEvents

/// The way a run is displayed, decided once from the output device and the environment.
package struct DisplaySettings: Sendable, Hashable {
  package enum Mode: Sendable, Hashable {
    /// One line per event.
    case plain
    /// An area that is redrawn below scrolling lines.
    case live
  }

  package var mode: Mode
  /// Whether step output must be sanitized for a terminal; a pipe gets the bytes as they are.
  package var isTerminal: Bool
  /// Whether SGR sequences are written, and those of steps are kept.
  package var usesColour: Bool
  /// Whether the locale is UTF-8; otherwise names are escaped and symbols are ASCII.
  package var usesUnicode: Bool
  /// Whether failures become GitHub Actions annotations.
  package var annotatesForGitHub: Bool
  /// The run for the commands that the display suggests; `nil` to suggest none.
  package var run: RunReference?
  /// The display of step output.
  package var output: OutputMode

  package init(
    mode: Mode, isTerminal: Bool = false, usesColour: Bool = false, usesUnicode: Bool = true,
    annotatesForGitHub: Bool = false, run: RunReference? = nil,
    output: OutputMode = .auto
  ) {
    self.mode = mode
    self.isTerminal = isTerminal
    self.usesColour = usesColour
    self.usesUnicode = usesUnicode
    self.annotatesForGitHub = annotatesForGitHub
    self.run = run
    self.output = output
  }

  var outputPolicy: OutputPolicy {
    OutputPolicy(
      mode: output, device: mode == .live ? .screen : annotatesForGitHub ? .foldedLines : .lines)
  }

  /// Chooses settings: live on a terminal that can move its cursor and is large enough, unless `CI` says that the
  /// output is not watched; otherwise plain. `NO_COLOR` (no-color.org) disables colours.
  ///
  /// - Parameter variable: Returns the value of an environment variable.
  package static func choose(
    isTerminal: Bool, size: DisplaySize, variable: (String) -> String?
  ) -> DisplaySettings {
    let terminal = variable("TERM") ?? ""
    let canDraw = isTerminal && !terminal.isEmpty && terminal != "dumb"
    let isWatched = !isSet(variable("CI"))
    return DisplaySettings(
      mode: canDraw && isWatched && size.fitsLiveDisplay ? .live : .plain,
      isTerminal: isTerminal,
      usesColour: canDraw && (variable("NO_COLOR") ?? "").isEmpty,
      usesUnicode: isUTF8(locale(variable)),
      annotatesForGitHub: variable("GITHUB_ACTIONS") == "true")
  }

  /// `CI=false` and `CI=0` conventionally mean that it is not set.
  private static func isSet(_ value: String?) -> Bool {
    switch value {
    case nil, "", "0", "false": false
    default: true
    }
  }

  /// Returns the first of these that is not empty (POSIX, Base Definitions §8.2).
  private static func locale(_ variable: (String) -> String?) -> String {
    ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(variable).first { !$0.isEmpty } ?? "C"
  }

  private static func isUTF8(_ locale: String) -> Bool {
    let charset = locale.lowercased()
    return charset.contains("utf-8") || charset.contains("utf8")
  }
}

/// Columns and rows of a terminal.
package struct DisplaySize: Sendable, Hashable {
  package let columns: Int
  package let rows: Int

  /// Replaces impossible values (`0` from serial lines or `COLUMNS=0`) by the usual 80 × 24.
  package init(columns: Int, rows: Int) {
    self.columns = columns > 0 ? columns : 80
    self.rows = rows > 0 ? rows : 24
  }

  /// Whether a line has room for a name and an age.
  var fitsLiveDisplay: Bool { columns >= 20 && rows >= 3 }
}

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
