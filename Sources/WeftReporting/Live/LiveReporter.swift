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
  /// - Parameter above: Lines that scroll away above the area, once.
  mutating func paint(above: [String], area: [String], size: DisplaySize) -> [UInt8] {
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
  mutating func withdraw(above: [String]) -> [UInt8] {
    defer { drawn = [] }
    return repaint(above, [])
  }

  private func repaint(_ above: [String], _ area: [String]) -> [UInt8] {
    var bytes = cursorUp(drawn.count)
    if !drawn.isEmpty { bytes += "\u{1B}[J".utf8 }
    for line in above + area {
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

/// Lines on their way to the scrolling part of the screen; many steps skipped at once for the same reason are
/// grouped.
struct ScrolledLines: Sendable {
  /// The number of consecutive steps skipped for one reason that get their own lines.
  static let skipLimit = 3

  private enum Entry: Sendable {
    case line(String)
    case moreSkipped(Int, SkipReason)
  }

  private var entries: [Entry] = []
  private var lastSkip: (reason: SkipReason, count: Int)?

  mutating func add(_ line: String) {
    entries.append(.line(line))
    lastSkip = nil
  }

  /// Counts a skipped step.
  ///
  /// - Returns: Whether the caller must add a line for it.
  mutating func add(skipped reason: SkipReason) -> Bool {
    let count = lastSkip?.reason == reason ? lastSkip!.count + 1 : 1
    lastSkip = (reason, count)
    guard count > ScrolledLines.skipLimit else { return true }
    if case .moreSkipped(let more, reason)? = entries.last {
      entries[entries.count - 1] = .moreSkipped(more + 1, reason)
    } else {
      entries.append(.moreSkipped(1, reason))
    }
    return false
  }

  mutating func add(lineOfSkipped line: String) { entries.append(.line(line)) }

  mutating func take(moreSkipped: (Int, SkipReason) -> String) -> [String] {
    defer { entries = [] }
    return entries.map { entry in
      switch entry {
      case .line(let line): line
      case .moreSkipped(let count, let reason): moreSkipped(count, reason)
      }
    }
  }
}
