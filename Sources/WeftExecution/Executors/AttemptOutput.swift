import WeftDefinition

/// Decides what of an attempt's output is passed on: lines, states of a line that writes over itself, all
/// without secrets and only up to a limit. It is told the time, and touches neither log nor events.
struct AttemptOutput {
  /// What is to be passed on now, in this order.
  struct News {
    var blocks: [(StepOutput.Stream, LineSplitter.Block)] = []
    /// The limit has been reached with them.
    var isCut = false

    mutating func add(_ block: LineSplitter.Block?, _ stream: StepOutput.Stream) {
      if let block { blocks.append((stream, block)) }
    }
  }

  /// All that was written, also what was not passed on.
  private(set) var bytes: UInt64 = 0
  private(set) var isCut = false
  /// How much more is passed on.
  private var room: Int
  private var stdout = MaskedLines()
  private var stderr = MaskedLines()

  init(limit: ByteCount) {
    room = limit.bytes
  }

  /// Masks from now on what this mask masks.
  mutating func use(_ mask: SecretMask) {
    stdout.use(mask)
    stderr.use(mask)
  }

  /// Takes a chunk of one stream, cut anywhere. What has no end when the limit is reached is passed on as
  /// it is.
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

  /// The limit has been reached by what was left out before it came here.
  mutating func cutNow() -> News {
    var news = News()
    if !isCut { cut(&news) }
    return news
  }

  /// The limit has been reached: what was held back does not come any more.
  private mutating func cut(_ news: inout News) {
    isCut = true
    news.isCut = true
    stdout.cut { news.add($0, .stdout) }
    stderr.cut { news.add($0, .stderr) }
  }

  /// When ``states(at:)`` has something to tell.
  var alarm: Duration? {
    guard let first = stdout.lines.alarm, let second = stderr.lines.alarm else {
      return stdout.lines.alarm ?? stderr.lines.alarm
    }
    return min(first, second)
  }

  /// What unfinished lines show that has not been told and is due.
  mutating func states(at now: Duration) -> [(StepOutput.Stream, [UInt8])] {
    var states: [(StepOutput.Stream, [UInt8])] = []
    if let state = stdout.state(at: now) { states.append((.stdout, state)) }
    if let state = stderr.state(at: now) { states.append((.stderr, state)) }
    return states
  }

  /// Both streams have ended: what is left without a newline.
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
