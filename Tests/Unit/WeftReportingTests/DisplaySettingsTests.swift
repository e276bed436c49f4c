import Testing

@testable import WeftReporting

@Suite struct DisplaySettingsTests {
  private static let usual = ["TERM": "xterm-256color", "LANG": "en_US.UTF-8"]

  private static func choose(
    _ changes: [String: String?] = [:], isTerminal: Bool = true, columns: Int = 80, rows: Int = 24
  ) -> DisplaySettings {
    let variables = usual.merging(changes.compactMapValues(\.self)) { $1 }
      .filter { changes[$0.key] != .some(nil) }
    return DisplaySettings.choose(
      isTerminal: isTerminal, size: DisplaySize(columns: columns, rows: rows),
      variable: { variables[$0] })
  }

  @Test func aTerminalIsDrawnOnInColour() {
    let settings = DisplaySettingsTests.choose()
    #expect(settings == DisplaySettings(mode: .live, isTerminal: true, usesColour: true))
  }

  @Test("C06: what cannot be drawn on gets plain lines, without colours")
  func incapableTerminalIsPlain() {
    for settings in [
      DisplaySettingsTests.choose(["TERM": "dumb"]), DisplaySettingsTests.choose(["TERM": ""]),
      DisplaySettingsTests.choose(["TERM": nil]), DisplaySettingsTests.choose(isTerminal: false),
    ] {
      #expect(settings.mode == .plain)
      #expect(!settings.usesColour)
    }
  }

  @Test(
    "C06: a size of 0 is taken for the usual one, a tiny terminal gets plain lines",
    arguments: [
      (0, 0, DisplaySettings.Mode.live), (1, 24, .plain), (19, 24, .plain), (20, 24, .live),
      (80, 1, .plain), (80, 2, .plain), (80, 3, .live), (-5, 24, .live),
    ])
  func theSizeMattersToo(columns: Int, rows: Int, mode: DisplaySettings.Mode) {
    #expect(DisplaySettingsTests.choose(columns: columns, rows: rows).mode == mode)
  }

  @Test(
    arguments: [("true", .plain), ("1", .plain), ("", .live), ("0", .live), ("false", .live)]
      as [(String, DisplaySettings.Mode)])
  func displayIsPlainInCI(value: String, mode: DisplaySettings.Mode) {
    #expect(DisplaySettingsTests.choose(["CI": value]).mode == mode)
  }

  @Test func noColourIsRespectedUnlessEmpty() {
    #expect(!DisplaySettingsTests.choose(["NO_COLOR": "1"]).usesColour)
    #expect(DisplaySettingsTests.choose(["NO_COLOR": "1"]).mode == .live)
    #expect(DisplaySettingsTests.choose(["NO_COLOR": ""]).usesColour)
  }

  @Test(
    "C07: the locale decides by POSIX's order of variables",
    arguments: [
      (["LANG": "C.utf8"], true), (["LANG": "C"], false), (["LANG": nil], false),
      (["LC_ALL": "C"], false), (["LC_ALL": "", "LC_CTYPE": "POSIX"], false),
      (["LANG": "de_DE.ISO-8859-1", "LC_CTYPE": "de_DE.UTF-8"], true),
    ] as [([String: String?], Bool)])
  func unicodeNeedsAUTF8Locale(variables: [String: String?], usesUnicode: Bool) {
    #expect(DisplaySettingsTests.choose(variables).usesUnicode == usesUnicode)
  }

  @Test func onlyGitHubGetsAnnotations() {
    #expect(DisplaySettingsTests.choose(["GITHUB_ACTIONS": "true"]).annotatesForGitHub)
    #expect(!DisplaySettingsTests.choose(["GITHUB_ACTIONS": "false"]).annotatesForGitHub)
    #expect(!DisplaySettingsTests.choose().annotatesForGitHub)
  }
}
