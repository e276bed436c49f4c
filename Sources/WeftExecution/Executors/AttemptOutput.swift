import WeftDefinition
import WeftEvents

/// Decides what parts of an attempt's output are passed on: lines and states of progress lines, without secrets
/// and up to a limit. It takes the time as an argument, and accesses neither log nor events.
struct AttemptOutput {
  /// The output to pass on now, in this order.
  struct News {
    var blocks: [(StepOutput.Stream, LineSplitter.Block)] = []
    /// Whether the limit has been reached with it.
    var isCut = false

    mutating func add(_ block: LineSplitter.Block?, _ stream: StepOutput.Stream) {
      if let block { blocks.append((stream, block)) }
    }
  }

  /// The number of all bytes written, including those that were not passed on.
  private(set) var bytes: UInt64 = 0
  private(set) var isCut = false
  /// The number of bytes that may still be passed on.
  private var room: Int
  private var stdout = MaskedLines()
  private var stderr = MaskedLines()

  init(limit: ByteCount) {
    room = limit.bytes
  }

  /// Uses this mask from now on.
  mutating func use(_ mask: SecretMask) {
    stdout.use(mask)
    stderr.use(mask)
  }

  /// Takes a chunk of one stream, cut anywhere. A line that is incomplete when the limit is reached is passed
  /// on as it is.
  mutating func take(
    _ chunk: UnsafeRawBufferPointer, _ stream: StepOutput.Stream, at now: Duration
  ) -> News {
    bytes += UInt64(chunk.count)
    guard !isCut else { return News() }
    var news = News()
    switch stream {
    case .stdout: stdout.take(chunk, at: now, room: &room) { news.add($0, stream) }
    case .stderr: stderr.take(chunk, at: now, room: &room) { news.add($0, stream) }
    }
    if room < 0 { cut(&news) }
    return news
  }

  /// Cuts the output, because output beyond the limit was dropped earlier.
  mutating func cutNow() -> News {
    var news = News()
    if !isCut { cut(&news) }
    return news
  }

  /// Cuts the output at the limit: output that is still buffered is dropped.
  private mutating func cut(_ news: inout News) {
    isCut = true
    news.isCut = true
    stdout.cut { news.add($0, .stdout) }
    stderr.cut { news.add($0, .stderr) }
  }

  /// The time at which ``states(at:)`` has something to show.
  var alarm: Duration? {
    guard let first = stdout.lines.alarm, let second = stderr.lines.alarm else {
      return stdout.lines.alarm ?? stderr.lines.alarm
    }
    return min(first, second)
  }

  /// The unfinished lines' states that are new and due.
  mutating func states(at now: Duration) -> [(StepOutput.Stream, [UInt8])] {
    var states: [(StepOutput.Stream, [UInt8])] = []
    if let state = stdout.state(at: now) { states.append((.stdout, state)) }
    if let state = stderr.state(at: now) { states.append((.stderr, state)) }
    return states
  }

  /// Passes on the last lines without a newline, after both streams have ended.
  mutating func finish() -> News {
    var news = News()
    guard bytes > 0, !isCut else { return news }
    stdout.finish(room: &room) { news.add($0, .stdout) }
    stderr.finish(room: &room) { news.add($0, .stderr) }
    if room < 0 {
      isCut = true
      news.isCut = true
    }
    return news
  }
}
