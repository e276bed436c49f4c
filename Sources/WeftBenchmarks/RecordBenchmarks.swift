import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform
import WeftRecord

/// The journal of a run: the cost of writing one record, and of reading a million.
enum RecordBenchmarks {
  private static let start = WallTime(nanoseconds: 1_795_000_000_000_000_000)
  private static let usage = ResourceUsage(
    userTime: .microseconds(812), systemTime: .microseconds(433), minorFaults: 64, majorFaults: 0,
    voluntarySwitches: 1, involuntarySwitches: 1)

  static var all: [Benchmark] {
    [("record/write", writing), ("record/read", reading)].map { name, measure in
      Benchmark(name) { report in
        let path = FileSystem.temporaryDirectory + "/weft-benchmark-record-\(ThisProcess.id)"
        defer { Directory.removeTree(path) }
        guard let state = try? StateDirectory(path, makes: true),
          let row = measure(state, report)
        else { return report.skip("\(FileSystem.temporaryDirectory) cannot be written to") }
        report.add(row)
      }
    }
  }

  /// The four records of a step.
  private static func kinds(of number: Int) -> [RunRecord.Kind] {
    let step = StepAddress("step-\(number)")
    let end = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: .code(0),
      duration: .microseconds(1234), usage: usage, outputBytes: 0)
    return [
      .event(.stepQueued(step)), .event(.stepStarted(step, attempt: 1)),
      .spawned(step, attempt: 1, ProcessIdentity(id: 4711, startTicks: 6_068_259)),
      .event(.stepFinished(step, end)),
    ]
  }

  /// Writing records, against the same bytes written by one `write` each.
  private static func writing(
    in state: StateDirectory, _ report: BenchmarkReport
  ) -> BenchmarkRow? {
    let count = 25_000
    let records = (0..<count).flatMap(kinds)
    var (times, bare): ([Double], [Double]) = ([], [])
    for turn in 0..<report.runs(5) {
      guard let (folder, journal) = folder(turn, in: state) else { return nil }
      let begin = MonotonicClock.now
      for kind in records { try? journal.record(kind, elapsed: .seconds(1)) }
      times.append((MonotonicClock.now - begin) / .microseconds(1) / Double(records.count))
      journal.close()
      var json = RecordJSON(version: "0", startedAt: start)
      let lines = records.enumerated().map { number, kind in
        json.withLine(of: kind, UInt64(number), after: .seconds(1)) { Array($0) }
      }
      guard let file = try? folder.directory.file("bare", .making) else { return nil }
      let beginBare = MonotonicClock.now
      for line in lines { try? file.writeAll(line) }
      bare.append((MonotonicClock.now - beginBare) / .microseconds(1) / Double(records.count))
    }
    return BenchmarkRow(
      name: "an event, level process", measured: times.median, unit: "µs",
      baselineName: "a bare write of as much", baseline: bare.median)
  }

  /// Reading a journal, against only searching for line ends.
  private static func reading(
    in state: StateDirectory, _ report: BenchmarkReport
  ) -> BenchmarkRow? {
    guard let (folder, journal) = folder(-1, in: state) else { return nil }
    for number in 0..<250_000 {
      for kind in kinds(of: number) { try? journal.record(kind, elapsed: .seconds(1)) }
    }
    journal.close()
    var (times, bare): ([Double], [Double]) = ([], [])
    for _ in 0..<report.runs(5) {
      let begin = MonotonicClock.now
      guard let contents = try? folder.contents(), contents.run.steps.count == 250_000 else {
        return nil
      }
      times.append((MonotonicClock.now - begin) / .seconds(1))
      guard let file = try? folder.directory.file(RunFolder.journalName, .reading) else {
        return nil
      }
      let beginBare = MonotonicClock.now
      bare.append(lines(of: file) > 0 ? (MonotonicClock.now - beginBare) / .seconds(1) : 0)
    }
    return BenchmarkRow(
      name: "1,000,000 records read", measured: times.median, unit: "s",
      baselineName: "counting the lines", baseline: bare.median)
  }

  private static func lines(of file: Descriptor) -> Int {
    var (count, offset) = (0, 0)
    while let piece = try? file.piece(at: offset, atMost: 1 << 20), !piece.isEmpty {
      offset += piece.count
      piece.withUnsafeBytes { bytes in
        var next = 0
        while let end = bytes.offset(of: UInt8(ascii: "\n"), from: next) {
          count += 1
          next = end + 1
        }
      }
    }
    return count
  }

  private static func folder(
    _ number: Int, in state: StateDirectory
  ) -> (RunFolder, JournalWriter)? {
    let run = RunID("20261121-000000-\(100_001 + number)")
    return try? RunFolder.make(
      RunFolder.Contents(workflow: nil, opening: RecordOpening(run: run)), in: state,
      durability: .process, startedAt: start)
  }
}
