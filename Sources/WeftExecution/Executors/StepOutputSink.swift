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
