import Synchronization
import WeftDefinition
import WeftPlanning
package import WeftPlatform

/// Takes what one attempt writes: into the step's log, and as events, line by line, secrets masked.
///
/// A line reaches the log when it is complete, so lines of the two streams never mix within a line.
/// One thread at a time writes.
package final class StepOutputSink: Sendable {
  /// `nil` as long as nothing has been written.
  private let state = Mutex<AttemptOutput?>(nil)
  /// The exact bytes that expressions are going to read; `nil` where none does.
  private let captured: Mutex<OutputCapture>?
  private let index: Int
  private let address: StepAddress
  private let limit: ByteCount
  private let run: LiveRun
  private var logs: StepLogs { run.logs }
  private var events: EventStream { run.events }
  private var secrets: RunSecrets { run.secrets }

  init(
    step index: Int, address: StepAddress, limit: ByteCount, of run: LiveRun,
    capture: OutputCapture?
  ) {
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
    // Here are the bytes as the program wrote them; beyond it they are masked.
    let mask = secrets.mask
    var rest = chunk[...]
    repeat {
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(StepOutputSink.pieceBytes))
      rest = rest.dropFirst(piece.count)
      pass(
        on: state.withLock { state in
          var output = state.take() ?? AttemptOutput(limit: limit)
          output.use(mask)
          let news = output.take(piece, stream, at: now)
          state = output
          return news
        })
    } while !rest.isEmpty
  }

  /// What is cut into lines at once, and how many lines are told at once: of very short lines the
  /// bookkeeping is many times as large as their bytes.
  private static let pieceBytes = 32 << 10
  private static let linesAtOnce = 1024

  /// Takes lines into the log alone: nobody is told. Only of a step that starts no program.
  func keep(_ lines: [UInt8]) {
    let mask = secrets.mask
    _ = logs.append(lines.withUnsafeBytes(mask.masked), of: index)
  }

  /// Both streams have ended; passes on what is left without a newline.
  package func finish() {
    if let news = state.withLock({ $0?.finish() }) { pass(on: news) }
  }

  /// What is kept of the output for expressions.
  var capture: OutputCapture? { captured?.withLock { $0 } }

  /// How much has been written to both streams.
  package var writtenBytes: UInt64 { state.withLock { $0?.bytes ?? 0 } }

  /// Whether some of it is neither in the log nor in events.
  package var isCut: Bool { state.withLock { $0?.isCut ?? false } }

  private func pass(on news: AttemptOutput.News) {
    for (stream, block) in news.blocks {
      let offset = logs.append(block.bytes, of: index)
      var rest = block.lines[...]
      while !rest.isEmpty {
        let lines = rest.prefix(StepOutputSink.linesAtOnce).map { line in
          StepOutput(
            stream: stream, bytes: block.bytes[line.range], ending: line.ending,
            logOffset: UInt64(offset + line.range.lowerBound))
        }
        rest = rest.dropFirst(lines.count)
        events.publish(lines, of: address)
      }
    }
    guard news.isCut else { return }
    logs.cut(at: limit, of: index)
    events.publishUnlessFinished(.runWarning(.outputTruncated(of: address, at: limit)))
  }
}

extension StepOutputSink: ProgramOutput {
  package func take(
    _ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration
  ) {
    write(bytes, to: stream == .output ? .stdout : .stderr, at: now)
  }

  package var alarm: Duration? { state.withLock { $0?.alarm } }

  /// What a line shows that writes over itself is told without being in the log: it comes there with the
  /// rest of its line.
  package func timePassed(until now: Duration) {
    let states = state.withLock { $0?.states(at: now) ?? [] }
    guard !states.isEmpty else { return }
    let offset = UInt64(logs.size(of: index))
    events.publish(
      states.map { stream, state in
        StepOutput(stream: stream, bytes: state[...], ending: .transient, logOffset: offset)
      }, of: address)
  }
}
