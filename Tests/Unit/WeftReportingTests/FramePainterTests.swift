import Testing
import WeftTestKit

@testable import WeftReporting

@Suite struct FramePainterTests {
  private static let size = DisplaySize(columns: 40, rows: 10)

  @Test func anUnchangedFrameWritesNothing() {
    var painter = FramePainter()
    _ = painter.paint(above: [], area: ["a", "b"], size: FramePainterTests.size)
    #expect(painter.paint(above: [], area: ["a", "b"], size: FramePainterTests.size).isEmpty)
  }

  @Test func onlyLinesThatChangedAreWritten() {
    var painter = FramePainter()
    _ = painter.paint(above: [], area: ["one", "two", "three"], size: FramePainterTests.size)
    let bytes = painter.paint(
      above: [], area: ["one", "2", "three"], size: FramePainterTests.size)
    #expect(String(decoding: bytes, as: UTF8.self) == "\r\u{1B}[2A2\u{1B}[K\r\n\r\n")
  }

  @Test func theCursorIsNeverHiddenNorTheScreenCleared() {
    for (_, run) in SampleRuns.all {
      let settings = DisplaySettings(mode: .live, isTerminal: true, usesColour: true)
      let text = Collected.of(run, settings).text
      #expect(!text.contains("\u{1B}[?"))
      #expect(!text.contains("\u{1B}[2J"))
    }
  }

  /// Compares the painter with the obvious way: everything that scrolled, then the area.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func frameSequencesLookLikeASingleDrawing(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var painter = FramePainter()
    var screen = Screen(columns: 40, rows: 10)
    var scrolled: [String] = []
    for frame in 0..<30 {
      let count = Bool.random(using: &random) ? Int.random(in: 1...3, using: &random) : 0
      let above = (0..<count).map { "above \(frame).\($0)" }
      let area = (0..<Int.random(in: 0...8, using: &random)).map { row in
        Bool.random(using: &random) ? "row \(row)" : "row \(row) of frame \(frame)"
      }
      scrolled += above
      let lines = Array(above.map { $0 + "\r\n" }.joined().utf8)
      screen.feed(painter.paint(above: lines, area: area, size: FramePainterTests.size))
      #expect(screen.lines == scrolled + area)
    }
    #expect(screen.surprises == [])
  }
}
