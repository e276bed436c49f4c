import Synchronization
package import WeftEvents
import WeftPlanning
import WeftPlatform

/// Splits a stream of bytes into lines, however the stream is cut into chunks.
///
/// A line longer than the limit is passed on in parts, never cut inside a UTF-8 sequence. If a line returns to
/// its start by `\r` and is overwritten, only its final state is a line; the overwritten text is still among
/// the bytes.
package struct LineSplitter {
  /// Complete lines, in one piece of memory.
  package struct Block {
    /// All bytes up to the end of the last line, as they were written.
    package let bytes: [UInt8]
    /// The number of those that were passed on before: the beginning of the first line.
    package let passed: Int
    /// Each line without its newline, and its ending; empty if everything was overwritten.
    package let lines: [(range: Range<Int>, ending: StepOutput.Ending)]
  }

  static let longestLineBytes = 64 << 10

  package init() {}

  /// The bytes that have not been passed on: the beginning of an incomplete line.
  private var rest: [UInt8] = []
  /// The number of those that were passed on after all, because the line did not end for a while.
  private var passed = 0
  /// Whether that line has returned to its start.
  private(set) var isOverwriting = false

  /// Takes a chunk.
  ///
  /// - Returns: All lines that it completes; `nil` if there are none.
  package mutating func take(_ chunk: UnsafeRawBufferPointer) -> Block? {
    guard
      chunk.offset(of: LineSplitter.newline) != nil
        || rest.count + chunk.count > LineSplitter.longestLineBytes
    else {
      rest += chunk
      isOverwriting = isOverwriting || chunk.offset(of: LineSplitter.carriageReturn) != nil
      return nil
    }
    var bytes = rest
    bytes += chunk
    let (lines, end) = bytes.withUnsafeBytes { bytes in
      let (lines, end) = LineSplitter.cut(bytes)
      isOverwriting = bytes.offset(of: LineSplitter.carriageReturn, from: end) != nil
      return (lines, end)
    }
    rest = Array(bytes[end...])
    guard end > 0 else { return nil }
    bytes.removeSubrange(end...)
    defer { passed = max(0, passed - end) }
    return Block(bytes: bytes, passed: passed, lines: lines)
  }

  /// The last line, if the stream did not end with a newline.
  package mutating func finish() -> Block? {
    guard !rest.isEmpty else { return nil }
    defer {
      rest = []
      passed = 0
      isOverwriting = false
    }
    let start = rest.withUnsafeBytes {
      LineSplitter.finalState(of: $0, in: 0..<$0.count).lowerBound
    }
    return Block(bytes: rest, passed: passed, lines: [(start..<rest.count, .endOfStream)])
  }

  /// Whether ``passOpenLine()`` has anything to return.
  var hasOpenBytes: Bool { rest.count > passed }

  /// Returns what has come of the unfinished line since the last call, without waiting for its end.
  mutating func passOpenLine() -> [UInt8] {
    defer { passed = rest.count }
    return Array(rest[passed...])
  }

  /// The beginning of a line that has not ended, and has not returned to its start.
  var openLine: [UInt8] { isOverwriting ? [] : rest }

  /// The states of an unfinished line that has returned to its start: the last complete state, and the text
  /// written after it. Either may be empty.
  var states: (last: ArraySlice<UInt8>, current: ArraySlice<UInt8>) {
    guard isOverwriting, let mark = rest.lastIndex(of: LineSplitter.carriageReturn) else {
      return ([], [])
    }
    let last = rest.withUnsafeBytes { LineSplitter.finalState(of: $0, in: 0..<(mark + 1)) }
    let end = rest[last].lastIndex { $0 != LineSplitter.carriageReturn }.map { $0 + 1 }
    return (rest[last.lowerBound..<(end ?? last.lowerBound)], rest[(mark + 1)...])
  }

  static let newline = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
}

extension LineSplitter {
  private typealias Line = (range: Range<Int>, ending: StepOutput.Ending)

  /// The complete lines in `bytes`, and the offset of the incomplete rest.
  private static func cut(_ bytes: UnsafeRawBufferPointer) -> (lines: [Line], end: Int) {
    let returns = bytes.offset(of: carriageReturn) != nil
    var lines: [Line] = []
    var start = 0
    while let newline = bytes.offset(of: newline, from: start) {
      let line = returns ? finalState(of: bytes, in: start..<newline) : start..<newline
      let last = addParts(of: bytes, in: line, to: &lines)
      lines.append((last..<newline, .newline))
      start = newline + 1
    }
    let rest = start..<bytes.count
    if rest.count > longestLineBytes {
      start = addParts(
        of: bytes, in: returns ? keptStates(of: bytes, in: rest) : rest, to: &lines)
    }
    return (lines, start)
  }

  /// Adds the parts of a line that is too long to wait for its end.
  ///
  /// - Returns: The offset of the rest of the line.
  private static func addParts(
    of bytes: UnsafeRawBufferPointer, in line: Range<Int>, to lines: inout [Line]
  ) -> Int {
    var start = line.lowerBound
    while line.upperBound - start > longestLineBytes {
      let part = boundary(in: bytes, from: start)
      lines.append((start..<part, .partial))
      start = part
    }
    return start
  }

  /// The visible part of a line: everything after the last `\r` that is followed by other text.
  private static func finalState(
    of bytes: UnsafeRawBufferPointer, in line: Range<Int>
  ) -> Range<Int> {
    var end = line.upperBound
    while end > line.lowerBound, bytes[end - 1] == carriageReturn { end -= 1 }
    var start = end
    while start > line.lowerBound, bytes[start - 1] != carriageReturn { start -= 1 }
    return start..<line.upperBound
  }

  /// The part to keep of an unfinished line that is too long: its last state and the text written after it, or
  /// only the latter if both together are too long.
  private static func keptStates(
    of bytes: UnsafeRawBufferPointer, in line: Range<Int>
  ) -> Range<Int> {
    var current = line.upperBound
    while current > line.lowerBound, bytes[current - 1] != carriageReturn { current -= 1 }
    let last = finalState(of: bytes, in: line.lowerBound..<current).lowerBound
    return (line.upperBound - last > longestLineBytes ? current : last)..<line.upperBound
  }

  /// The end of a part that begins at `start`: at the limit, or up to three bytes before it to keep a UTF-8
  /// sequence whole (RFC 3629: continuation bytes are 10xxxxxx, at most three in a row).
  private static func boundary(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let limit = start + longestLineBytes
    var end = limit
    while limit - end < 3, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return bytes[end] & 0xC0 == 0x80 ? limit : end
  }
}

/// One output stream on its way to events: its lines, and the states of a progress line.
///
/// Events have whole lines. The log has the beginning of a line that does not end, such as a prompt, after a moment.
///
/// States are shown while the line changes. If the next state has begun already, the complete one is shown
/// first, so that a state which was cut by a read is not shown before its rest has arrived.
struct StreamLines {
  private var splitter = LineSplitter()
  private var pace = ProgressPace()
  private var shown: [UInt8] = []
  private var lastComplete: [UInt8] = []
  /// The time at which the unfinished line goes to the log.
  private var openDue: Duration?

  /// The longest time for which bytes of an unfinished line are not in the log.
  static let openInterval = Duration.seconds(1)

  /// The time at which ``state(at:)`` or ``openBytes(at:)`` has something to return.
  var alarm: Duration? {
    guard let state = pace.due, let openDue else { return pace.due ?? openDue }
    return min(state, openDue)
  }

  /// The beginning of a line that has not ended, and has not returned to its start.
  var openLine: [UInt8] { splitter.openLine }

  /// Takes a chunk; returns the lines that it completes.
  mutating func take(_ chunk: UnsafeRawBufferPointer, at now: Duration) -> LineSplitter.Block? {
    let wasOverwriting = splitter.isOverwriting
    let block = splitter.take(chunk)
    if wasOverwriting, block?.lines.isEmpty == false { forgetLine() }
    if splitter.isOverwriting { pace.changed(at: now) }
    if block != nil { openDue = nil }
    if splitter.hasOpenBytes { openDue = openDue ?? now + StreamLines.openInterval }
    return block
  }

  /// The new bytes of the unfinished line, if it is time for them to go to the log.
  mutating func openBytes(at now: Duration) -> [UInt8] {
    guard let openDue, openDue <= now else { return [] }
    self.openDue = nil
    return splitter.passOpenLine()
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
    openDue = nil
    forgetLine()
    return splitter.finish()
  }

  private mutating func forgetLine() {
    pace.lineEnded()
    shown = []
    lastComplete = []
  }
}

/// Finds the lines that running steps have begun and not ended, such as prompts, for a display that shows one step.
///
/// Nothing is published for such lines: most end a moment later.
final class OpenLines: Sendable {
  private let sinks = Mutex<[StepAddress: StepOutputSink]>([:])

  /// Called when a step writes.
  func note(_ sink: StepOutputSink, of step: StepAddress) { sinks.withLock { $0[step] = sink } }

  /// Called at the end of a step's output.
  func forget(_ sink: StepOutputSink, of step: StepAddress) {
    sinks.withLock { if $0[step] === sink { $0[step] = nil } }
  }

  /// Returns the text of the line, secrets masked; `nil` if there is none.
  func line(of step: StepAddress) -> [UInt8]? { sinks.withLock { $0[step] }?.openLine }
}
