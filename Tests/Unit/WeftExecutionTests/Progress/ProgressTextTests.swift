import Testing

@testable import WeftEvents
@testable import WeftExecution

@Suite struct ProgressTextTests {
  struct Line: Sendable, CustomTestStringConvertible {
    let text: String
    let progress: StepProgress?

    init(_ text: String, _ progress: StepProgress?) {
      (self.text, self.progress) = (text, progress)
    }

    var testDescription: String { text.debugDescription }
  }

  @Test(arguments: [
    Line("3/10", StepProgress(3, of: 10)), Line("0/1", StepProgress(0, of: 1)),
    Line("3/10 linking main", StepProgress(3, of: 10, text: "linking main")),
    Line("  3/10\t tab \r", StepProgress(3, of: 10, text: "tab")),
    Line("007/010 a", StepProgress(7, of: 10, text: "a")), Line("12/10", StepProgress(12, of: 10)),
    Line("9007199254740992/9007199254740992", StepProgress(1 << 53, of: 1 << 53)),
    Line(
      "1/2 \u{202E}evil\u{0}\u{1B}[31m", StepProgress(1, of: 2, text: "\u{202E}evil\u{0}\u{1B}[31m")
    ),
    Line("5/0", nil), Line("-1/5", nil), Line("1/-5", nil), Line("+1/5", nil), Line("1.5/3", nil),
    Line("1/2x", nil), Line("1 / 2", nil), Line("/2", nil), Line("1/", nil), Line("50%", nil),
    Line("9007199254740993/1", nil), Line("99999999999999999999999999/1", nil),
    Line("1/99999999999999999999999999", nil), Line("\u{0}1/2", nil), Line("١/٢", nil),
  ])
  func aLineIsProgressOrNot(line: Line) {
    #expect(ProgressText.progress(in: Array(line.text.utf8)[...]) == line.progress)
  }

  @Test func aTextIsCutAndRepaired() {
    let long = Array("1/2 ".utf8) + [0xFF] + Array(String(repeating: "é", count: 9000).utf8)
    let text = ProgressText.progress(in: long[...])?.text
    #expect(text == "\u{FFFD}" + String(repeating: "é", count: StepProgress.textLimit - 1))
  }

  struct Ending: Sendable {
    let bytes: String
    var isWhole = true
    var isFinal = false
    let latest: Int?
    let hasOthers: Bool
  }

  @Test(arguments: [
    Ending(bytes: "", latest: nil, hasOthers: false),
    Ending(bytes: "1/9\n2/9\n3/9 a\n", latest: 3, hasOthers: false),
    // An incomplete line does not count until its writer has ended.
    Ending(bytes: "1/9\n2/9", latest: 1, hasOthers: false),
    Ending(bytes: "1/9\n2/9", isFinal: true, latest: 2, hasOthers: false),
    Ending(bytes: "1/9\nxyz", latest: 1, hasOthers: false),
    Ending(bytes: "1/9\nxyz", isFinal: true, latest: 1, hasOthers: true),
    Ending(bytes: "1/9\nnonsense\n\n \r\n", latest: 1, hasOthers: true),
    Ending(bytes: "nonsense\n2/9\n", latest: 2, hasOthers: true),
    // The first line of a part is incomplete.
    Ending(bytes: "1/9\n2/9\n", isWhole: false, latest: 2, hasOthers: false),
    Ending(bytes: "9\n2/9\n3/", isWhole: false, latest: 2, hasOthers: false),
    // A line that is longer than the part.
    Ending(bytes: "xxxxxxxx", isWhole: false, latest: nil, hasOthers: true),
    Ending(bytes: "1/9 xxxx", isWhole: false, isFinal: true, latest: nil, hasOthers: true),
  ])
  func theLastValidLineCounts(ending: Ending) {
    let text = ProgressText(
      Array(ending.bytes.utf8), isWhole: ending.isWhole, isFinal: ending.isFinal)
    #expect(text.latest?.done == ending.latest)
    #expect(text.hasOtherLines == ending.hasOthers)
  }
}
