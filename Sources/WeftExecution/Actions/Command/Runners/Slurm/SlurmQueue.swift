import WeftDefinition
import WeftEvents

/// The output of `squeue`: the jobs of the user, with those that have ended lately. There may be many thousands, of which
/// only those of the run are looked at more closely. The elements of an array that wait are on one line.
enum SlurmQueue {
  static let arguments = [
    "squeue", "--me", "--noheader", "--states=all", "--format=%k|%F|%K|%T|%N|%r",
  ]

  /// The variable by which `squeue` prints all indices of that line, however many (squeue(1)).
  static let variables: [(name: String, value: String?)] = [("SLURM_BITSTR_LEN", "0")]

  static func comment(run: RunID, word: String) -> String { "weft \(run.text) \(word)" }

  /// The jobs of a run.
  static func jobs(of run: RunID, in output: [UInt8]) -> JobQueue {
    var queue = JobQueue()
    let beginning = Array(comment(run: run, word: "").utf8)
    var (word, number, stateName) = (RepeatedText(), RepeatedText(), RepeatedText())
    for line in output.split(separator: UInt8(ascii: "\n")) where line.starts(with: beginning) {
      let fields = line.dropFirst(beginning.count).split(
        separator: UInt8(ascii: "|"), maxSplits: 5, omittingEmptySubsequences: false)
      guard fields.count == 6 else { continue }
      word.take(fields[0])
      number.take(fields[1])
      stateName.take(fields[3])
      let state = SlurmState(stateName.text)
      let phase: JobQueue.Phase = state.isOver ? .over : state.isPending ? .waiting : .running
      let reason =
        state.isPending ? "waits in Slurm: \(String(decoding: fields[5], as: UTF8.self))" : nil
      func add(_ index: Int?) {
        let id = index.map { "\(number.text)_\($0)" } ?? number.text
        var news = reason
        if phase == .running { news = "job \(id) on \(String(decoding: fields[4], as: UTF8.self))" }
        queue.add(
          JobQueue.Entry(
            id: id, unfinished: phase == .over ? [] : [id], state: state.name, phase: phase,
            news: news), JobKey(word: word.text, index: index ?? 0))
      }
      let indices = String(decoding: fields[2], as: UTF8.self)
      if indices == "N/A" { add(nil) } else { Self.indices(indices).joined().forEach(add) }
    }
    return queue
  }

  /// The indices of elements as in "7" and "0-3,5,8-20:4%2": a step follows a colon, and after the percent sign how many of
  /// them may run at once.
  private static func indices(_ text: String) -> [StrideThrough<Int>] {
    text.prefix { $0 != "%" }.split(separator: ",").compactMap { part in
      let numbers = part.split { $0 == "-" || $0 == ":" }.map { Int($0) ?? -1 }
      guard !numbers.isEmpty else { return nil }
      let (first, last) = (numbers[0], numbers.count > 1 ? numbers[1] : numbers[0])
      let step = numbers.count > 2 ? numbers[2] : 1
      guard 0...mostIndex ~= first, first...mostIndex ~= last, step > 0 else { return nil }
      return stride(from: first, through: last, by: step)
    }
  }

  /// The largest index of an array that Slurm can be configured to accept (`MaxArraySize` in slurm.conf(5)).
  private static let mostIndex = 4_000_000
}

/// A text that many lines in a row have in common, made once.
private struct RepeatedText {
  private var bytes: ArraySlice<UInt8> = []
  private(set) var text = ""

  mutating func take(_ new: ArraySlice<UInt8>) {
    if new.elementsEqual(bytes) { return }
    (bytes, text) = (new, String(decoding: new, as: UTF8.self))
  }
}

/// The state of a job, in Slurm's words.
struct SlurmState: Hashable {
  let name: String

  init(_ name: String) { self.name = name }

  var isPending: Bool { name == "PENDING" || name == "CONFIGURING" }

  var isOver: Bool {
    switch name {
    case "COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "DEADLINE", "OUT_OF_MEMORY", "NODE_FAIL",
      "BOOT_FAIL", "PREEMPTED", "REVOKED", "SPECIAL_EXIT":
      true
    default: false
    }
  }

  /// The end of a job that its cluster ended; `nil` if its program ended by itself, or that is not known.
  ///
  /// - Parameter limit: The requested time.
  func end(of id: String, limit: Duration?, asked: ByteCount?) -> AttemptEnd.Status? {
    func failed(_ reason: ErrorClass.RunnerReason, _ text: String) -> AttemptEnd.Status {
      .failed(StepFailure(classes: [.runner, .runner(reason)], message: "job \(id) \(text)"))
    }
    switch name {
    case "TIMEOUT", "DEADLINE":
      guard let limit else {
        return .failed(
          StepFailure(
            classes: [.timeout], message: "job \(id) reached the time limit of its partition",
            help: "request more: \"resources\": { \"time\": \"2h\" }"))
      }
      return .timedOut(after: limit, nil)
    case "OUT_OF_MEMORY":
      return .failed(
        StepFailure(
          classes: [.limit, .memoryLimit],
          message: "job \(id) needed more memory than "
            + (asked.map { "the \($0) that it requested" } ?? "its cluster grants by default"),
          help: "request more in \"resources\", for example \"${{ case(run.attempt > 1, '8GiB', "
            + "'2GiB') }}\" with \"retry\""))
    case "NODE_FAIL": return failed(.nodeFail, "ended with its node, which failed")
    case "BOOT_FAIL": return failed(.bootFail, "did not start: its node failed to boot")
    case "PREEMPTED": return failed(.preempted, "was preempted")
    case "CANCELLED", "REVOKED": return failed(.cancelled, "was cancelled in Slurm")
    default: return nil
    }
  }
}

/// The output of `sacct`: what the database of a cluster, if it has one, knows of jobs that are over.
enum SlurmRecords {
  static func arguments(_ ids: [String]) -> [String] {
    [
      "sacct", "--noheader", "--parsable2", "--noconvert", "--jobs=" + ids.joined(separator: ","),
      "--format=JobID,State,UserCPU,SystemCPU,MaxRSS",
    ]
  }

  /// The records by the numbers of their jobs.
  static func records(in output: [UInt8]) -> [String: JobRecord] {
    var records: [String: JobRecord] = [:]
    for line in String(decoding: output, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 5 else { continue }
      // A job is followed by its steps, of which the script is one. The cluster measures the memory of steps.
      if fields[0].hasSuffix(".batch") {
        records[String(fields[0].dropLast(6))]?.usage?.peakMemoryBytes = bytes(fields[4])
        continue
      }
      // As in "CANCELLED by 1000".
      guard !fields[0].contains("."),
        let state = fields[1].split(separator: " ").first.map(String.init),
        SlurmState(state).isOver
      else { continue }
      var record = JobRecord(state: state)
      if let user = time(fields[2]), let system = time(fields[3]) {
        record.usage = ResourceUsage(userTime: user, systemTime: system)
      }
      records[fields[0]] = record
    }
    return records
  }

  /// - Parameter text: `[DAYS-[HOURS:]]MINUTES:SECONDS[.MILLISECONDS]`.
  private static func time(_ text: String) -> Duration? {
    let parts = text.split(separator: ".", maxSplits: 1)
    let days = (parts.first ?? "").split(separator: "-", maxSplits: 1)
    guard let clock = days.last else { return nil }
    var seconds = 0
    for part in clock.split(separator: ":") {
      guard let number = Int(part) else { return nil }
      seconds = seconds * 60 + number
    }
    if days.count == 2 { seconds += (Int(days[0]) ?? 0) * 86_400 }
    let fraction = parts.count == 2 ? Int((parts[1] + "000").prefix(3)) ?? 0 : 0
    return .seconds(seconds) + .milliseconds(fraction)
  }

  /// - Parameter text: A number and perhaps a unit, as in `219652K`.
  private static func bytes(_ text: String) -> Int? {
    let digits = text.prefix { $0.isNumber }
    let unit = text.dropFirst(digits.count)
    guard let number = Int(digits), number > 0,
      let power = ["": 0, "K": 10, "M": 20, "G": 30, "T": 40][unit]
    else { return nil }
    return number << power
  }
}
