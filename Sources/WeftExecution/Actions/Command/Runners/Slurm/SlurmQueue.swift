import WeftDefinition
import WeftEvents

/// The output of `squeue`: the jobs of the user, with those that have ended lately. There may be many thousands, of which
/// only those of the run are looked at more closely.
enum SlurmQueue {
  static let arguments = [
    "squeue", "--me", "--noheader", "--array", "--states=all", "--format=%k|%F|%K|%T|%N|%r",
  ]

  static func comment(run: RunID, word: String) -> String { "weft \(run.text) \(word)" }

  /// The jobs of a run.
  static func jobs(of run: RunID, in output: [UInt8]) -> JobQueue {
    var queue = JobQueue()
    let beginning = Array(comment(run: run, word: "").utf8)
    for line in output.split(separator: UInt8(ascii: "\n")) where line.starts(with: beginning) {
      let text = String(decoding: line[(line.startIndex + beginning.count)...], as: UTF8.self)
      let fields = text.split(separator: "|", maxSplits: 5, omittingEmptySubsequences: false)
      guard fields.count == 6 else { continue }
      let index = Int(fields[2])
      let id = index.map { "\(fields[1])_\($0)" } ?? String(fields[1])
      let state = SlurmState(String(fields[3]))
      let phase: JobQueue.Phase = state.isOver ? .over : state.isPending ? .waiting : .running
      let news = state.isPending ? "waits in Slurm: \(fields[5])" : "job \(id) on \(fields[4])"
      queue.add(
        JobQueue.Entry(
          id: id, unfinished: state.isOver ? [] : [id], state: state.name, phase: phase, news: news),
        JobKey(word: String(fields[0]), index: index ?? 0))
    }
    return queue
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
