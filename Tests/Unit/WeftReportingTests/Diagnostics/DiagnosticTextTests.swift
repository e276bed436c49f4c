import Testing
import WeftDiagnostics
import WeftReporting

struct DiagnosticTextTests {
  @Test("W04: the place, the sentence, the line, the caret and the cure")
  func aDiagnosticShowsPlaceFaultAndCure() {
    let marked = Marked(
      """
      { "steps": [
          { "id": "test", "run": "…" },
          { "id": "publish", "run": "…", "needs": ["test", ⟦"bulid"⟧] }
      ] }
      """, path: "workflows/release.json")
    let diagnostic = Diagnostic(
      .error, code: "W0203",
      message: #"step "publish" needs "bulid", which is not a step of this workflow"#,
      place: marked.place, help: #"did you mean "build"?"#)
    let wanted = #"""
      workflows/release.json:3:54: error: step "publish" needs "bulid", which is not a step of this workflow [W0203]
          3 |     { "id": "publish", "run": "…", "needs": ["test", "bulid"] }
            |                                                      ^~~~~~~
         = help: did you mean "build"?

      """#
    #expect(DiagnosticText().rendered(diagnostic) == wanted)
  }

  @Test func relatedPlacesAreShownEachWithItsLine() {
    let first = Marked("{⟦\"a\"⟧: 1,\n \"a\": 2}")
    var diagnostic = Diagnostic(
      .error, code: "W0101", message: #"the key "a" is repeated"#,
      place: Diagnostic.Place(file: first.file, range: SourceRange(start: 10, end: 13)),
      help: "remove one of the two")
    diagnostic.related = [
      Diagnostic.Related(message: "the first is here", place: first.place),
      Diagnostic.Related(message: "keys are compared by scalars", place: nil),
    ]
    let wanted = #"""
      a.json:2:2: error: the key "a" is repeated [W0101]
          2 |  "a": 2}
            |  ^~~
         = help: remove one of the two
      a.json:1:2: note: the first is here
          1 | {"a": 1,
            |  ^~~
         = note: keys are compared by scalars

      """#
    #expect(DiagnosticText().rendered(diagnostic) == wanted)
  }

  @Test func aDiagnosticWithoutPlaceHasNoSource() {
    let diagnostic = Diagnostic(
      .warning, code: "W0501", message: "nothing to do", place: nil, help: "add a step")
    #expect(
      DiagnosticText().rendered(diagnostic)
        == "warning: nothing to do [W0501]\n   = help: add a step\n")
  }

  @Test(arguments: [
    ("\t\t⟦x⟧", ["        x", "        ^"]), ("ab\t⟦x\ty⟧", ["ab  x   y", "    ^~~~~"]),
    ("⟦\t⟧x", ["    x", "^~~~"]),
    ("日本⟦語⟧x", ["日本語x", "    ^~"]), ("⟦日本⟧語", ["日本語", "^~~~"]), ("Ａ⟦x⟧", ["Ａx", "  ^"]),
    ("😀⟦x⟧", ["😀x", "  ^"]), ("👩‍👩‍👧⟦x⟧", ["👩‍👩‍👧x", "  ^"]), ("👍🏽⟦x⟧", ["👍🏽x", "  ^"]),
    ("🇩🇪⟦x⟧", ["🇩🇪x", "  ^"]), ("❤️⟦x⟧", ["❤️x", "  ^"]), ("❤⟦x⟧", ["❤x", " ^"]),
    ("e\u{301}⟦x⟧", ["e\u{301}x", " ^"]), ("ก็⟦x⟧", ["ก็x", " ^"]), ("한⟦x⟧", ["한x", "  ^"]),
    ("\u{1112}\u{1161}\u{11AB}⟦x⟧", ["\u{1112}\u{1161}\u{11AB}x", "  ^"]),
  ])
  func theCaretIsRightWhateverTheWidth(text: String, lines: [String]) {
    #expect(excerpt(Marked(text)) == lines)
  }

  @Test(arguments: [
    ("\u{1B}[31m⟦x⟧", [#"\x1b[31mx"#, "        ^"]), ("⟦\u{1B}⟧x", [#"\x1bx"#, "^~~~"]),
    ("\u{202E}⟦x⟧", [#"\u{202e}x"#, "        ^"]),
    ("\u{0}\u{7F}⟦x⟧", [#"\x00\x7fx"#, "        ^"]),
    ("\u{85}⟦x⟧", [#"\x85x"#, "    ^"]), ("\u{200B}⟦x⟧", [#"\u{200b}x"#, "        ^"]),
    ("\u{2028}⟦x⟧", [#"\u{2028}x"#, "        ^"]),
    ("a\u{E0041}⟦x⟧", [#"a\u{e0041}x"#, "          ^"]),
  ])
  func terminalControlsAreEscaped(text: String, lines: [String]) {
    #expect(excerpt(Marked(text)) == lines)
  }

  @Test(
    "H30: users and passwords of URLs are not shown",
    arguments: [
      ("⟦\"http://me:pass@h/a@b\"⟧", "\"http://*******@h/a@b\""),
      ("⟦x⟧ https://token@h", "x https://*****@h"),
      ("⟦x⟧ https:\\/\\/me:pass@h\\/", "x https:\\/\\/*******@h\\/"),
      ("⟦x⟧ http://a:b@c@h http://d:e@h", "x http://*****@h http://***@h"),
      ("⟦x⟧ http://me:${{ secrets.A }}@h", "x http://***${{ secrets.A }}@h"),
      ("⟦x⟧ http://me:a${{ '@/' }}b@h", "x http://****${{ '@/' }}*@h"),
      ("⟦x⟧ http://mé:日@h", "x http://*****@h"),
      ("⟦x⟧ http://h/a@b mail@h ://", "x http://h/a@b mail@h ://"),
      ("⟦x⟧ {\"a\": \"b@c\", \"d\":\"//e@f\"}", "x {\"a\": \"b@c\", \"d\":\"//e@f\"}"),
    ])
  func credentialsAreBlankedOut(text: String, shown: String) {
    #expect(excerpt(Marked(text))[0] == shown)
  }

  @Test("H30: a password of which only a part is in sight is not shown")
  func credentialsAtTheEdgeAreBlankedOut() {
    let long = "http://me:" + String(repeating: "pass", count: 500) + "@h "
    for text in [long + "⟦x⟧", "⟦x⟧ " + long, "⟦" + long + "⟧"] {
      #expect(!excerpt(Marked(text), width: 40)[0].contains("pa"))
    }
  }

  @Test func bytesThatAreNotUTF8AreSpelledOut() {
    let file = SourceFile(path: "a", bytes: [0x61, 0xFF, 0xE2, 0x82, 0x62])
    let diagnostic = Diagnostic(
      .error, code: "W0005", message: "wrong",
      place: Diagnostic.Place(file: file, range: SourceRange(start: 2, end: 4)))
    #expect(
      DiagnosticText().rendered(diagnostic) == #"""
        a:1:3: error: wrong [W0005]
            1 | a\xff\xe2\x82b
              |      ^~~~~~~~

        """#)
  }

  @Test func namesAndSentencesAreHarmlessToo() {
    let marked = Marked("⟦x⟧", path: "a\u{1B}[2J.json")
    let text = DiagnosticText().rendered(
      marked.diagnostic(.note, "found \"\u{202E}\n\"", help: "not\u{7}"))
    #expect(
      text == #"""
        a\x1b[2J.json:1:1: note: found "\u{202e}\n" [W0001]
            1 | x
              | ^
           = help: not\x07

        """#)
  }

  @Test(arguments: [
    ("⟦⟧", ["", "^"]), ("ab⟦⟧", ["ab", "  ^"]), ("ab⟦⟧\ncd", ["ab", "  ^"]),
    ("ab\n⟦⟧", ["", "^"]), ("a⟦b\ncd⟧e", ["ab", " ^"]), ("a⟦bcd\n\n⟧", ["abcd", " ^~~"]),
    ("ab⟦\n⟧cd", ["ab", "  ^"]), ("ab⟦\r\n⟧cd", ["ab", "  ^"]), ("a\rb⟦c⟧\rd", ["bc", " ^"]),
    ("\u{FEFF}⟦{⟧", ["{", "^"]), ("⟦\u{FEFF}⟧{", ["{", "^"]),
  ])
  func theEdgesOfLinesAndFilesAreRight(text: String, lines: [String]) {
    var shown = excerpt(Marked(text))
    if shown.count == 1 { shown.insert("", at: 0) }
    #expect(shown == lines)
  }

  @Test func longLineIsCutAroundTheRange() {
    let before = String(repeating: "abcdefghij", count: 30)
    let after = String(repeating: "klmnopqrst", count: 30)
    let middle = excerpt(Marked(before + "⟦HERE⟧" + after), width: 40)
    #expect(middle[0].count == 40)
    #expect(middle[0].hasPrefix("…") && middle[0].hasSuffix("…"))
    #expect(caretText(middle) == "HERE")
    let start = excerpt(Marked("⟦HERE⟧" + after), width: 40)
    #expect(start[0].hasPrefix("HEREklm") && start[0].hasSuffix("…"))
    #expect(caretText(start) == "HERE")
    let end = excerpt(Marked(before + "⟦HERE⟧"), width: 40)
    #expect(end[0].hasPrefix("…") && end[0].hasSuffix("hijHERE"))
    #expect(caretText(end) == "HERE")
    let all = excerpt(Marked("x⟦" + before + "⟧y"), width: 40)
    #expect(all[0].count <= 40 && all[1].count <= 40)
    #expect(caretText(all).hasPrefix("abc"))
  }

  @Test(arguments: [20, 33, 80])
  func aWindowNeverCutsACharacterOrPassesTheWidth(width: Int) {
    for offset in 0..<60 {
      let text =
        String(repeating: "日é😀", count: 20 + offset) + String(repeating: "x", count: offset)
      let lines = excerpt(Marked(text + "⟦!⟧" + text), width: width)
      #expect(!lines[0].contains("\\x"))
      #expect(!lines[0].contains("\u{FFFD}"))
      #expect(columns(of: lines[0]) <= width)
      #expect(columns(of: String(lines[0].prefix { $0 != "!" })) == lines[1].count - 1)
    }
  }

  @Test func aPlaceInAMegabyteLineIsShownAtOnce() {
    let long = String(repeating: "日本語", count: 300_000)
    let lines = excerpt(Marked(long + "⟦!⟧" + long), width: 60)
    #expect(lines[0].contains("!") && columns(of: lines[0]) <= 60)
  }

  @Test func coloursAreSGROnlyAndChangeNoText() {
    let marked = Marked("{⟦\"a\"⟧}")
    var diagnostic = marked.diagnostic(.error, "wrong", help: "right")
    diagnostic.related = [Diagnostic.Related(message: "here", place: marked.place)]
    let plain = DiagnosticText().rendered(diagnostic)
    let coloured = DiagnosticText(usesColour: true).rendered(diagnostic)
    #expect(coloured.contains("\u{1B}[1;31m^~~\u{1B}[0m"))
    #expect(coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain)
  }

  @Test func theMarginGrowsWithTheLineNumber() {
    let marked = Marked(String(repeating: "\n", count: 123_455) + "⟦x⟧")
    let lines = DiagnosticText().rendered(marked.diagnostic()).split(separator: "\n")
    #expect(lines == ["a.json:123456:1: error: wrong [W0001]", "123456 | x", "       | ^"])
  }

  private func caretText(_ lines: [String]) -> String {
    let start = lines[1].prefix { $0 == " " }.count
    return String(lines[0].dropFirst(start).prefix(lines[1].count - start))
  }

  /// The width in columns of text with CJK, emoji and Latin letters.
  private func columns(of text: String) -> Int {
    text.reduce(0) { $0 + ("日本語😀".contains($1) ? 2 : 1) }
  }
}
