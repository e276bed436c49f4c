/// One output stream on its way to events: its lines, and what a line shows that writes over itself.
///
/// What such a line shows is told while it changes; where the next state is there already, the one that
/// is complete goes first, so that a state which was cut by a read is not shown before its rest is there.
struct StreamLines {
  private var splitter = LineSplitter()
  private var pace = ProgressPace()
  private var shown: [UInt8] = []
  private var lastComplete: [UInt8] = []

  /// When ``state(at:)`` has something to tell.
  var alarm: Duration? { pace.due }

  /// Takes a chunk; returns what is complete with it.
  mutating func take(_ chunk: UnsafeRawBufferPointer, at now: Duration) -> LineSplitter.Block? {
    let wasOverwriting = splitter.isOverwriting
    let block = splitter.take(chunk)
    if wasOverwriting, block?.lines.isEmpty == false { forgetLine() }
    if splitter.isOverwriting { pace.changed(at: now) }
    return block
  }

  /// What the unfinished line shows, if that is new and due.
  mutating func state(at now: Duration) -> [UInt8]? {
    guard pace.show(at: now) else { return nil }
    let (last, current) = splitter.states
    let isNew = !last.isEmpty && !last.elementsEqual(lastComplete) && !last.elementsEqual(shown)
    lastComplete = Array(last)
    if isNew, !current.isEmpty { pace.changed(at: now) }
    let state = isNew ? last : current
    guard !state.isEmpty, !state.elementsEqual(shown) else { return nil }
    shown = Array(state)
    return shown
  }

  /// The stream has ended; returns what is left of it.
  mutating func finish() -> LineSplitter.Block? {
    forgetLine()
    return splitter.finish()
  }

  private mutating func forgetLine() {
    pace.lineEnded()
    shown = []
    lastComplete = []
  }
}
