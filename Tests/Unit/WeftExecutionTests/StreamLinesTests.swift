import Testing
import WeftDefinition
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The displayed states of an overwritten line, on virtual time.
@Suite struct StreamLinesTests {
  /// Plays chunks that arrive at these milliseconds, and returns what is shown when.
  private func shown(_ chunks: [(at: Int, String)], until end: Int = 1000) -> [String] {
    var stream = StreamLines()
    var shown: [String] = []
    var log: [UInt8] = []
    let written = chunks.flatMap { Array($0.1.utf8) }
    var chunks = chunks[...]
    for now in 0...end {
      let time = Duration.milliseconds(now)
      while let (at, text) = chunks.first, at == now {
        chunks.removeFirst()
        Array(text.utf8).withUnsafeBytes { bytes in
          let block = stream.take(bytes, at: time)
          if let block { log += block.bytes.dropFirst(block.passed) }
          for line in block.map(lines) ?? [] {
            shown.append("\(now) line \(line)")
          }
        }
      }
      guard let alarm = stream.alarm, alarm <= time else { continue }
      log += stream.openBytes(at: time)
      if let state = stream.state(at: time) {
        shown.append("\(now) \(String(decoding: state, as: UTF8.self))")
      }
      #expect(stream.alarm.map { $0 > time } ?? true)
    }
    if let block = stream.finish() { log += block.bytes.dropFirst(block.passed) }
    #expect(log == written)
    return shown
  }

  private func lines(_ block: LineSplitter.Block) -> [String] {
    block.lines.map { String(decoding: block.bytes[$0.range], as: UTF8.self) }
  }

  @Test(
    "O08: each state is shown, or another soon after it",
    arguments: [
      // A mark at the end of each state.
      ([(0, "1%\r"), (100, "2%\r"), (200, "3%\n")], ["0 1%", "100 2%", "200 line 3%"]),
      // A mark at the beginning of each state.
      ([(0, "\r1%"), (100, "\r2%"), (200, "\r3%\n")], ["0 1%", "100 2%", "200 line 3%"]),
      // The last state remains, though nothing follows.
      ([(0, "1%\r"), (10, "2%\r"), (20, "3%\r")], ["0 1%", "50 3%"]),
      // A complete state is shown before an incomplete one.
      ([(0, "1%\r2"), (10, "%\r3"), (60, "%\r")], ["0 1%", "50 2%", "100 3%"]),
      ([(0, "\r1%\r2%")], ["0 1%", "50 2%"]),
      // No state is shown twice.
      ([(0, "1%\r"), (60, "1%\r"), (120, "1%\r1%\r")], ["0 1%"]),
      ([(0, "\r1%"), (60, "\r"), (120, "2%")], ["0 1%", "120 2%"]),
      // The final state of a line is only part of the line.
      ([(0, "1%\r"), (10, "2%\r3%\nnext\n")], ["0 1%", "10 line 3%", "10 line next"]),
      ([(0, "1%\r2%\n")], ["0 line 2%"]),
      // A line without a mark is a line, not a state.
      ([(0, "is it? "), (100, "yes\n")], ["100 line is it? yes"]),
      ([(0, "a\r\nb\r\n")], ["0 line a\r", "0 line b\r"]),
      // A new line starts without a state.
      ([(0, "1%\r"), (10, "\n1%\r")], ["0 1%", "10 line 1%\r", "50 1%"]),
      ([(0, "\r\r\r")], []),
    ] as [([(at: Int, String)], [String])])
  func progressLineIsShownAtItsPace(chunks: [(at: Int, String)], expected: [String]) {
    #expect(shown(chunks) == expected)
  }

  @Test("O08: progress without a pause is shown 20 times a second, and its last state")
  func atMostTwentyASecond() {
    let states = shown((0..<1000).map { ($0, "state \($0)\r") }, until: 1100)
    #expect(states.count == 21)
    #expect(states.first == "0 state 0" && states.last == "1000 state 999")
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func noStateIsInvisibleForLong(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var stream = StreamLines()
    var time = Duration.zero
    var reported: [Duration] = []
    for number in 0..<300 {
      let text = Bool.random(using: &random) ? "\(number)\r" : "\r\(number)"
      Array(text.utf8).withUnsafeBytes { _ = stream.take($0, at: time) }
      let next = time + .milliseconds(Int.random(in: 0...120, using: &random))
      while let alarm = stream.alarm, alarm <= next {
        let now = max(alarm, time)
        if !stream.openBytes(at: now).isEmpty { continue }
        #expect(
          now - time <= ProgressPace.interval
            || reported.last.map { now - $0 <= .milliseconds(100) } ?? true)
        if stream.state(at: now) != nil { reported.append(now) }
      }
      time = next
    }
    for (earlier, later) in zip(reported, reported.dropFirst()) {
      #expect(later - earlier >= ProgressPace.interval)
    }
  }
}
