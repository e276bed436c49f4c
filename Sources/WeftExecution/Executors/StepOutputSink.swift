import Synchronization
import WeftCaching
import WeftDefinition
package import WeftEvents
import WeftPlanning
package import WeftPlatform

/// Writes the output of one attempt to the step's log, and publishes it line by line as events, secrets masked.
///
/// A line reaches the log when it is complete, so the two streams mix within a line only if it stays unfinished: after
/// a second, the log has its beginning. Only one thread at a time may write.
package final class StepOutputSink: Sendable {
  /// `nil` until something has been written.
  private let state = Mutex<AttemptOutput?>(nil)
  /// The exact bytes for expressions; `nil` if none reads them.
  private let captured: Mutex<OutputCapture>?
  /// The output that is buffered until the step's secret outputs are known; `nil` if it has none.
  private let held: Mutex<Holding>?
  /// The beginning of the log, for the cache; `nil` if the step is not cached.
  private let kept: Mutex<CachedLog>?
  private let index: Int
  private let address: StepAddress
  private let limit: ByteCount
  private let run: RunEngine
  private var logs: StepLogs { run.logs }
  private var events: EventStream { run.events }
  private var secrets: RunSecrets { run.secrets }
  /// Looks for the sign of a service that it is ready; `nil` for other steps.
  let watcher: LineWatcher?

  private struct Holding {
    /// `nil` once it has been passed on.
    var output: BufferedOutput?
    var isWithheld = false
    var withholdsStandardError = false
    var writtenBytes: UInt64 = 0
  }

  /// - Parameters:
  ///   - isBuffered: Whether all output is buffered until ``finish()``.
  ///   - keepsLog: Whether ``log`` is needed.
  init(
    step index: Int, address: StepAddress, limit: ByteCount, of run: RunEngine,
    capture: OutputCapture?, isBuffered: Bool = false, keepsLog: Bool = false,
    watcher: LineWatcher? = nil
  ) {
    self.watcher = watcher
    kept = keepsLog ? Mutex(CachedLog()) : nil
    held = isBuffered ? Mutex(Holding(output: BufferedOutput(limit: limit))) : nil
    captured = if let capture { Mutex(capture) } else { nil }
    self.index = index
    self.address = address
    self.limit = limit
    self.run = run
  }

  /// Takes a chunk of one stream, cut anywhere.
  package func write(
    _ chunk: UnsafeRawBufferPointer, to stream: StepOutput.Stream, at now: Duration = .zero
  ) {
    captured?.withLock { $0.take(chunk, stream) }
    if !hold(chunk, .stream(stream), at: now) { pass(on: chunk, stream, at: now) }
  }

  private func pass(
    on chunk: UnsafeRawBufferPointer, _ stream: StepOutput.Stream, at now: Duration
  ) {
    // The bytes are still as the program wrote them; from here on they are masked.
    let mask = secrets.mask
    var rest = chunk[...]
    repeat {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(StepOutputSink.pieceBytes))
      rest = rest.dropFirst(piece.count)
      pass(
        on: state.withLock { state in
          var output = state.take() ?? AttemptOutput(limit: limit)
          output.use(mask)
          let portion = output.take(piece, stream, at: now)
          state = output
          return portion
        })
    } while !rest.isEmpty
  }

  /// The number of bytes split into lines, and of lines published, at a time: for very short lines, the
  /// bookkeeping is many times as large as their bytes.
  private static let pieceBytes = 32 << 10
  private static let linesAtOnce = 1024

  /// Writes lines to the log without publishing events. Only for a step that starts no program.
  func keep(_ lines: [UInt8]) {
    lines.withUnsafeBytes { lines in
      if !hold(lines, .log, at: .zero) { writeToLog(lines) }
    }
  }

  private func writeToLog(_ lines: UnsafeRawBufferPointer) {
    _ = logs.append(secrets.mask.masked(lines), of: index)
  }

  /// Passes on buffered output and the last lines without a newline, after both streams have ended.
  package func finish() {
    run.openLines?.forget(self, of: address)
    passOnBuffered()
    if let portion = state.withLock({ $0?.finish() }) { pass(on: portion) }
  }

  // MARK: Buffering

  /// Whether the output is buffered until the step's secret outputs are known.
  var isBuffered: Bool { held != nil }

  /// Whether a secret output is unknown, so that the output it is evaluated from is discarded.
  var isWithheld: Bool { held?.withLock { $0.isWithheld } ?? false }

  /// Discards buffered standard output, because it may contain an unknown secret.
  func withhold(standardErrorToo: Bool) {
    held?.withLock { held in
      held.isWithheld = true
      held.withholdsStandardError = standardErrorToo
    }
  }

  /// - Returns: Whether the chunk was buffered.
  private func hold(
    _ chunk: UnsafeRawBufferPointer, _ target: BufferedOutput.Target, at now: Duration
  ) -> Bool {
    held?.withLock { held in
      guard held.output != nil else { return false }
      held.output!.add(chunk, to: target, at: now)
      return true
    } ?? false
  }

  /// Passes on what has been buffered, because the step's secret outputs are known.
  func passOnBuffered() {
    let taken = held?.withLock { held -> (BufferedOutput, Holding)? in
      guard let output = held.output.take() else { return nil }
      held.writtenBytes = output.writtenBytes
      return (output, held)
    }
    guard let (output, holding) = taken ?? nil else { return }
    var withheld = 0
    output.passOn { target, piece, now in
      let isWithheld =
        holding.isWithheld && (target != .stream(.stderr) || holding.withholdsStandardError)
      switch target {
      case _ where isWithheld: withheld += piece.count
      case .stream(let stream): pass(on: piece, stream, at: now)
      case .log: writeToLog(piece)
      }
    }
    if withheld > 0 { reportWithheld(withheld) }
    guard output.isCut else { return }
    pass(
      on: state.withLock { state in
        if state == nil { state = AttemptOutput(limit: limit) }
        return state?.cutNow() ?? AttemptOutput.Portion()
      })
  }

  private func reportWithheld(_ count: Int) {
    var line =
      "weft: \(count) bytes withheld: they may contain a secret output of the "
      + "step that is not known\n"
    line.withUTF8 { pass(on: UnsafeRawBufferPointer($0), .stdout, at: .zero) }
  }

  /// The output captured for expressions.
  var capture: OutputCapture? { captured?.withLock { $0 } }

  /// The log as the cache stores it, secrets masked.
  var log: CachedLog? { kept?.withLock { $0 } }

  /// The number of bytes written to both streams.
  package var writtenBytes: UInt64 {
    held?.withLock { $0.writtenBytes } ?? state.withLock { $0?.bytes ?? 0 }
  }

  /// Whether some of it is neither in the log nor in events.
  package var isCut: Bool { state.withLock { $0?.isCut ?? false } }

  private func pass(on portion: AttemptOutput.Portion) {
    for (stream, block) in portion.blocks {
      let new = Array(block.bytes.dropFirst(block.passed))
      let offset = logs.append(new, of: index) - block.passed
      kept?.withLock { $0.append(block.bytes, isError: stream == .stderr) }
      var rest = block.lines[...]
      while !rest.isEmpty {
        let lines = rest.prefix(StepOutputSink.linesAtOnce).map { line in
          StepOutput(
            stream: stream, bytes: block.bytes[line.range], ending: line.ending,
            logOffset: UInt64(offset + line.range.lowerBound))
        }
        rest = rest.dropFirst(lines.count)
        events.publish(lines, of: address)
        watcher?.look(at: lines)
        run.values.failures?.append(lines, of: address)
      }
    }
    guard portion.isCut else { return }
    kept?.withLock { $0.isWhole = false }
    logs.cut(at: limit, of: index)
    events.publishUnlessFinished(.runWarning(.outputTruncated(of: address, at: limit)))
  }
}

extension StepOutputSink: ProgramOutput {
  package func take(
    _ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration
  ) {
    write(bytes, to: stream == .output ? .stdout : .stderr, at: now)
    run.openLines?.note(self, of: address)
  }

  /// The text of a line that was begun and has not ended; of both streams, that of standard output.
  var openLine: [UInt8]? { state.withLock { $0?.openLine } }

  package var alarm: Duration? { state.withLock { $0?.alarm } }

  /// Writes the beginnings of unfinished lines to the log, and publishes the states of progress lines.
  package func timePassed(until now: Duration) {
    let (begun, states) = state.withLock { ($0?.openBytes(at: now), $0?.states(at: now) ?? []) }
    if let begun, !begun.isEmpty { _ = logs.append(begun, of: index) }
    guard !states.isEmpty else { return }
    let offset = UInt64(logs.size(of: index))
    events.publish(
      states.map { stream, state in
        StepOutput(stream: stream, bytes: state[...], ending: .transient, logOffset: offset)
      }, of: address)
  }
}

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
    stdout.cut { portion.add($0, .stdout) }
    stderr.cut { portion.add($0, .stderr) }
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
    if let state = stdout.state(at: now) { states.append((.stdout, state)) }
    if let state = stderr.state(at: now) { states.append((.stderr, state)) }
    return states
  }

  /// The beginnings of unfinished lines that go to the log now.
  mutating func openBytes(at now: Duration) -> [UInt8] {
    isCut ? [] : stdout.openBytes(at: now) + stderr.openBytes(at: now)
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
  private(set) var lines = StreamLines()
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

  /// Passes on the rest of the last line, and nothing after it.
  mutating func cut(_ pass: (LineSplitter.Block?) -> Void) { pass(lines.finish()) }

  mutating func openBytes(at now: Duration) -> [UInt8] { lines.openBytes(at: now) }

  /// The state of a progress line, if it is new and due.
  mutating func state(at now: Duration) -> [UInt8]? { lines.state(at: now) }
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
