import Synchronization
import WeftPlanning
package import WeftPlatform

/// Takes what one attempt writes: into the step's log, and as events, line by line.
///
/// A line reaches the log when it is complete, so lines of the two streams never mix within a line.
/// The streams themselves are independent; each is used by one thread at a time.
package final class StepOutputSink: Sendable {
  private struct State {
    var stdout = LineSplitter()
    var stderr = LineSplitter()
    var bytes: UInt64 = 0
  }

  private let state = Mutex(State())
  private let index: Int
  private let address: StepAddress
  private let logs: StepLogs
  private let events: EventStream

  init(step index: Int, address: StepAddress, logs: StepLogs, events: EventStream) {
    self.index = index
    self.address = address
    self.logs = logs
    self.events = events
  }

  /// Takes a chunk of one stream, cut anywhere.
  package func write(_ chunk: UnsafeRawBufferPointer, to stream: StepOutput.Stream) {
    let block = state.withLock { state in
      state.bytes += UInt64(chunk.count)
      return switch stream {
      case .stdout: state.stdout.take(chunk)
      case .stderr: state.stderr.take(chunk)
      }
    }
    pass(on: block, stream)
  }

  /// Both streams have ended; passes on what is left without a newline.
  package func finish() {
    let (stdout, stderr) = state.withLock { ($0.stdout.finish(), $0.stderr.finish()) }
    pass(on: stdout, .stdout)
    pass(on: stderr, .stderr)
  }

  /// How much has been written to both streams.
  package var writtenBytes: UInt64 { state.withLock { $0.bytes } }

  private func pass(on block: LineSplitter.Block?, _ stream: StepOutput.Stream) {
    guard let block else { return }
    let offset = logs.append(block.bytes, of: index)
    let lines = block.lines.map { line in
      StepOutput(
        stream: stream, bytes: block.bytes[line.range], ending: line.ending,
        logOffset: UInt64(offset + line.range.lowerBound))
    }
    events.publish(lines, of: address)
  }
}

extension StepOutputSink: ProgramOutput {
  package var alarm: Duration? { nil }

  package func take(
    _ bytes: UnsafeRawBufferPointer, from stream: OutputStream, at now: Duration
  ) {
    write(bytes, to: stream == .output ? .stdout : .stderr)
  }

  package func timePassed(until now: Duration) {}
}
