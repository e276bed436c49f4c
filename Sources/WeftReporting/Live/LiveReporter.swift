import WeftEvents
import WeftPlanning

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

  /// The minimum time between frames: at most ten frames per second.
  static let frameInterval: Duration = .milliseconds(100)

  var nextRedraw: Duration? {
    if hasEnded { return nil }
    if hasChanges { return lastFrame + LiveReporter.frameInterval }
    let second = Duration.seconds(lastFrame.components.seconds + 1)
    return display.stepAlone == nil ? second : min(second, lastFrame + OpenLine.patience)
  }

  /// The number of bytes that are shown at once, without waiting for a frame.
  private static let manyBytes = 64 << 10

  mutating func handle(
    _ events: [RunEvent], now: Duration, size: () -> DisplaySize?, source: Reporter.Source,
    write: Reporter.Write
  ) {
    guard !hasEnded else { return }
    let size = size()
    display.isHidden = size == nil
    for event in events {
      if let (step, end) = display.backlog(before: event) {
        readBacklog(of: step, upTo: end, now, source, write)
      }
      display.apply(event, log: source.log)
      if !display.isHidden, display.waitingBytes >= LiveReporter.manyBytes { flush(write) }
    }
    hasChanges = hasChanges || !events.isEmpty
    hasEnded = display.hasEnded
    if let due = nextRedraw, now < due { return }
    // The result is shown in any case.
    if let size = size ?? (hasEnded ? DisplaySize(columns: 0, rows: 0) : nil) {
      draw(now: now, size: size, source, write)
    } else {
      lastFrame = now
    }
  }

  /// Leaves the screen to other output until the next frame.
  mutating func withdraw(isVisible: Bool, _ write: Reporter.Write) {
    let bytes = painter.withdraw(above: isVisible ? display.takeScrolled() : [])
    if !bytes.isEmpty { write(bytes) }
    hasChanges = true
  }

  private mutating func draw(
    now: Duration, size: DisplaySize, _ source: Reporter.Source, _ write: Reporter.Write
  ) {
    display.settle(now, log: source.log)
    while let (step, end) = display.backlog { readBacklog(of: step, upTo: end, now, source, write) }
    if let step = display.stepAlone { display.note(open: source.openLine(step), at: now) }
    let area =
      hasEnded
      ? []
      : display.area(
        size: size, now: now, remaining: source.remaining(), waiting: source.waiting())
    let bytes = painter.paint(above: display.takeScrolled(), area: area, size: size)
    lastFrame = now
    hasChanges = false
    if !bytes.isEmpty { write(bytes) }
  }

  /// Shows output whose events are missing, piece by piece, so that neither a large log nor a slow terminal needs
  /// memory.
  private mutating func readBacklog(
    of step: StepAddress, upTo end: UInt64, _ now: Duration, _ source: Reporter.Source,
    _ write: Reporter.Write
  ) {
    while display.readBacklog(of: step, upTo: end, at: now, log: source.log) { flush(write) }
  }

  /// Writes everything but the area, which the next frame draws again.
  private mutating func flush(_ write: Reporter.Write) { withdraw(isVisible: true, write) }
}

/// Turns frames into the bytes that change a terminal from one to the next.
///
/// The cursor rests at the start of the row below the area and is never hidden, so that the prompt finds a clean row
/// however the program ends. Only relative movement (CUU), EL and ED are used. Lines must be narrower than the
/// terminal.
///
/// A terminal that is made narrower may or may not wrap the old area into more rows, which cannot be detected. Rows
/// are counted as if it did not: at worst, stale rows remain, whereas the opposite assumption would erase scrolled
/// lines.
struct FramePainter: Sendable {
  private var drawn: [String] = []
  private var size: DisplaySize?

  /// Returns the bytes for the next frame; empty if nothing changes.
  ///
  /// - Parameter above: Lines with their ends, which scroll away above the area, once.
  mutating func paint(above: [UInt8], area: [String], size: DisplaySize) -> [UInt8] {
    defer {
      drawn = area
      self.size = size
    }
    guard above.isEmpty, area.count == drawn.count, size == self.size || drawn.isEmpty else {
      return repaint(above, area)
    }
    return update(to: area)
  }

  /// Removes the area, leaving `above` in its place; the next frame draws it again.
  mutating func withdraw(above: [UInt8]) -> [UInt8] {
    defer { drawn = [] }
    return repaint(above, [])
  }

  private func repaint(_ above: [UInt8], _ area: [String]) -> [UInt8] {
    var bytes = cursorUp(drawn.count)
    if !drawn.isEmpty { bytes += "\u{1B}[J".utf8 }
    bytes += above
    for line in area {
      bytes += line.utf8
      bytes += "\r\n".utf8
    }
    return bytes
  }

  /// Rewrites the lines that differ.
  private func update(to area: [String]) -> [UInt8] {
    guard let first = area.indices.first(where: { area[$0] != drawn[$0] }) else { return [] }
    var bytes = cursorUp(area.count - first)
    for index in first..<area.count {
      if area[index] != drawn[index] {
        bytes += area[index].utf8
        bytes += "\u{1B}[K".utf8
      }
      bytes += "\r\n".utf8
    }
    return bytes
  }

  private func cursorUp(_ rows: Int) -> [UInt8] {
    rows == 0 ? [] : Array("\r\u{1B}[\(rows)A".utf8)
  }
}
