import WeftDefinition
import WeftEvents
import WeftPlatform

/// Decides what parts of an attempt's output are passed on: lines and states of progress lines, without secrets
/// and up to a limit. It takes the time as an argument, and accesses neither log nor events.
struct AttemptOutput {
  /// The output to pass on now, in this order.
  struct Portion {
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
  private var capacity: Int
  private var stdout = MaskedLines()
  private var stderr = MaskedLines()

  init(limit: ByteCount) {
    capacity = limit.bytes
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
  ) -> Portion {
    bytes += UInt64(chunk.count)
    guard !isCut else { return Portion() }
    var portion = Portion()
    switch stream {
    case .stdout: stdout.take(chunk, at: now, capacity: &capacity) { portion.add($0, stream) }
    case .stderr: stderr.take(chunk, at: now, capacity: &capacity) { portion.add($0, stream) }
    }
    if capacity < 0 { cut(&portion) }
    return portion
  }

  /// Cuts the output, because output beyond the limit was dropped earlier.
  mutating func cutNow() -> Portion {
    var portion = Portion()
    if !isCut { cut(&portion) }
    return portion
  }

  /// Cuts the output at the limit: output that is still buffered is dropped.
  private mutating func cut(_ portion: inout Portion) {
    isCut = true
    portion.isCut = true
    portion.add(stdout.lines.finish(), .stdout)
    portion.add(stderr.lines.finish(), .stderr)
  }

  /// The time at which ``states(at:)`` or ``openBytes(at:)`` has something to return.
  var alarm: Duration? {
    guard let first = stdout.lines.alarm, let second = stderr.lines.alarm else {
      return stdout.lines.alarm ?? stderr.lines.alarm
    }
    return min(first, second)
  }

  /// The unfinished lines' states that are new and due.
  mutating func states(at now: Duration) -> [(StepOutput.Stream, [UInt8])] {
    var states: [(StepOutput.Stream, [UInt8])] = []
    if let state = stdout.lines.state(at: now) { states.append((.stdout, state)) }
    if let state = stderr.lines.state(at: now) { states.append((.stderr, state)) }
    return states
  }

  /// The beginnings of unfinished lines that go to the log now.
  mutating func openBytes(at now: Duration) -> [UInt8] {
    isCut ? [] : stdout.lines.openBytes(at: now) + stderr.lines.openBytes(at: now)
  }

  /// The text of a line that was begun and has not ended.
  var openLine: [UInt8]? {
    guard !isCut else { return nil }
    return [stdout.lines.openLine, stderr.lines.openLine].first { !$0.isEmpty }
  }

  /// Passes on the last lines without a newline, after both streams have ended.
  mutating func finish() -> Portion {
    var portion = Portion()
    guard bytes > 0, !isCut else { return portion }
    stdout.finish(capacity: &capacity) { portion.add($0, .stdout) }
    stderr.finish(capacity: &capacity) { portion.add($0, .stderr) }
    if capacity < 0 {
      isCut = true
      portion.isCut = true
    }
    return portion
  }
}

/// Decides when a state that changes often is shown: not at each change, but no change stays unshown for long. It
/// has no clock; callers pass the time.
struct ProgressPace {
  /// At most one state in this time for each stream: 20 per second.
  static let interval = Duration.milliseconds(50)

  private let interval: Duration

  /// The time at which the next state is to be shown; `nil` if all have been shown.
  private(set) var due: Duration?
  private var shownAt: Duration?

  init(interval: Duration = ProgressPace.interval) { self.interval = interval }

  /// Records a change of the line. It is due immediately, unless a state was shown a moment ago.
  mutating func changed(at now: Duration) {
    due = due ?? shownAt.map { max(now, $0 + interval) } ?? now
  }

  /// Whether a state is to be shown now; it then counts as shown.
  mutating func show(at now: Duration) -> Bool {
    guard let due, due <= now else { return false }
    self.due = nil
    shownAt = now
    return true
  }

  /// Records the end of the line, after which there is no further state to show.
  mutating func lineEnded() { due = nil }
}

/// One output stream without its secrets, up to a limit that both streams of an attempt share.
///
/// The limit counts masked output; so it never cuts a secret, whose beginning would then be visible.
struct MaskedLines {
  fileprivate var lines = StreamLines()
  private var filter = SecretFilter()

  mutating func use(_ mask: SecretMask) { filter.use(mask) }

  /// Takes a chunk.
  ///
  /// - Parameter room: The number of bytes that may still be passed on; below zero once output was dropped.
  mutating func take(
    _ chunk: UnsafeRawBufferPointer, at now: Duration, capacity: inout Int,
    _ pass: (LineSplitter.Block?) -> Void
  ) {
    filter.take(chunk) { lines.take($0, at: now, capacity: &capacity, pass) }
  }

  /// Passes on the rest of the stream after it has ended.
  mutating func finish(capacity: inout Int, _ pass: (LineSplitter.Block?) -> Void) {
    // The time does not matter any more, since no further states are shown.
    filter.finish { lines.take($0, at: .zero, capacity: &capacity, pass) }
    pass(lines.finish())
  }
}

extension StreamLines {
  /// Takes as many bytes as there is room for.
  fileprivate mutating func take(
    _ piece: UnsafeRawBufferPointer, at now: Duration, capacity: inout Int,
    _ pass: (LineSplitter.Block?) -> Void
  ) {
    guard capacity >= 0 else { return }
    pass(take(UnsafeRawBufferPointer(rebasing: piece.prefix(capacity)), at: now))
    capacity = piece.count > capacity ? -1 : capacity - piece.count
  }
}
