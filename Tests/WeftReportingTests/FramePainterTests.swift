import Testing

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
      let text = Collected.of(run, settings).text(.output)
      #expect(!text.contains("\u{1B}[?"))
      #expect(!text.contains("\u{1B}[2J"))
    }
  }

  /// The painter against the obvious way: everything that scrolled, then the area.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func anySequenceOfFramesLooksAsIfDrawnOnce(seed: UInt64) {
    var random = TestGenerator(seed: seed)
    var painter = FramePainter()
    var screen = Screen(columns: 40, rows: 10)
    var scrolled: [String] = []
    for frame in 0..<30 {
      let above = (0..<Int.random(in: 0...3, using: &random)).map { "above \(frame).\($0)" }
      let area = (0..<Int.random(in: 0...8, using: &random)).map { row in
        Bool.random(using: &random) ? "row \(row)" : "row \(row) of frame \(frame)"
      }
      let above2 = Bool.random(using: &random) ? above : []
      scrolled += above2
      screen.feed(painter.paint(above: above2, area: area, size: FramePainterTests.size))
      #expect(screen.lines == scrolled + area)
    }
    #expect(screen.surprises == [])
  }

  /// SplitMix64 (Steele, Lea, Flood 2014).
  private struct TestGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
