import WeftDefinition

/// Decides what of an attempt's output is passed on: lines, states of a line that writes over itself, and
/// all of it only up to a limit. It is told the time, and touches neither log nor events.
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
  private var stdout = StreamLines()
  private var stderr = StreamLines()

  init(limit: ByteCount) {
    room = limit.bytes
  }

  /// Takes a chunk of one stream, cut anywhere. What has no end when the limit is reached is passed on as
  /// it is.
  mutating func take(
    _ chunk: UnsafeRawBufferPointer, _ stream: StepOutput.Stream, at now: Duration
  ) -> News {
    bytes += UInt64(chunk.count)
    guard !isCut else { return News() }
    isCut = chunk.count > room
    let kept = UnsafeRawBufferPointer(rebasing: chunk.prefix(room))
    room -= kept.count
    var news = News()
    switch stream {
    case .stdout: news.add(stdout.take(kept, at: now), stream)
    case .stderr: news.add(stderr.take(kept, at: now), stream)
    }
    guard isCut else { return news }
    news.blocks += finish().blocks
    news.isCut = true
    return news
  }

  /// When ``states(at:)`` has something to tell.
  var alarm: Duration? {
    guard let first = stdout.alarm, let second = stderr.alarm else {
      return stdout.alarm ?? stderr.alarm
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
    news.add(stdout.finish(), .stdout)
    news.add(stderr.finish(), .stderr)
    return news
  }
}
