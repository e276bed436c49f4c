/// One output stream on its way to events: its lines, and the states of a progress line.
///
/// States are shown while the line changes. If the next state has begun already, the complete one is shown
/// first, so that a state which was cut by a read is not shown before its rest has arrived.
struct StreamLines {
  private var splitter = LineSplitter()
  private var pace = ProgressPace()
  private var shown: [UInt8] = []
  private var lastComplete: [UInt8] = []

  /// The time at which ``state(at:)`` has something to show.
  var alarm: Duration? { pace.due }

  /// Takes a chunk; returns the lines that it completes.
  mutating func take(_ chunk: UnsafeRawBufferPointer, at now: Duration) -> LineSplitter.Block? {
    let wasOverwriting = splitter.isOverwriting
    let block = splitter.take(chunk)
    if wasOverwriting, block?.lines.isEmpty == false { forgetLine() }
    if splitter.isOverwriting { pace.changed(at: now) }
    return block
  }

  /// The state of the unfinished line, if it is new and due.
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

  /// The rest of the stream after it has ended.
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
