import WeftEvents

/// Decides when to draw on a terminal, and passes on each frame in one piece.
struct LiveReporter: Sendable {
  private var display: LiveDisplay
  private var painter = FramePainter()
  /// The time of the last frame; initially the run's start, so that a run shorter than a frame shows only its result.
  private var lastFrame: Duration = .zero
  private var hasChanges = false
  private var hasEnded = false

  init(_ settings: DisplaySettings, labels: StepLabels) {
    display = LiveDisplay(settings, labels: labels)
  }

  /// A placeholder while a reporter is being changed.
  static let spent = LiveReporter(DisplaySettings(mode: .live), labels: StepLabels())

  /// The minimum time between frames: at most ten frames per second.
  static let frameInterval: Duration = .milliseconds(100)

  var nextRedraw: Duration? {
    if hasEnded { return nil }
    if hasChanges { return lastFrame + LiveReporter.frameInterval }
    return .seconds(lastFrame.components.seconds + 1)
  }

  mutating func handle(
    _ events: [RunEvent], now: Duration, size: () -> DisplaySize?, log: Reporter.ReadLog,
    remaining: () -> Duration? = { nil }, write: Reporter.Write
  ) {
    guard !hasEnded else { return }
    for event in events { display.apply(event, log: log) }
    hasChanges = hasChanges || !events.isEmpty
    hasEnded = display.hasEnded
    if let due = nextRedraw, now < due { return }
    // The result is shown in any case.
    if let size = size() ?? (hasEnded ? DisplaySize(columns: 0, rows: 0) : nil) {
      draw(now: now, size: size, remaining, write)
    } else {
      lastFrame = now
    }
  }

  /// Leaves the screen to other output until the next frame.
  mutating func withdraw(isVisible: Bool, _ write: Reporter.Write) {
    let bytes = painter.withdraw(above: isVisible ? display.takeScrolled() : [])
    if !bytes.isEmpty { write(.output, bytes) }
    hasChanges = true
  }

  private mutating func draw(
    now: Duration, size: DisplaySize, _ remaining: () -> Duration?, _ write: Reporter.Write
  ) {
    let area = hasEnded ? [] : display.area(size: size, now: now, remaining: remaining())
    let bytes = painter.paint(above: display.takeScrolled(), area: area, size: size)
    lastFrame = now
    hasChanges = false
    if !bytes.isEmpty { write(.output, bytes) }
  }
}
