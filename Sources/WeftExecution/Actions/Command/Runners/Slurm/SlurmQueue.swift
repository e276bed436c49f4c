import WeftDefinition
import WeftEvents

/// The jobs of a run as `squeue` lists them.
struct SlurmQueue {
  /// A job of the run, whatever number Slurm gave it.
  struct Key: Hashable {
    /// The word of its batch.
    var word: String
    /// The index in the batch.
    var index: Int

    init(word: String, index: Int) {
      self.word = word
      self.index = index
    }

    /// As it is kept in a file.
    var text: String { "\(word) \(index)" }

    init?(_ text: String) {
      let parts = text.split(separator: " ")
      guard parts.count == 2, let index = Int(parts[1]) else { return nil }
      self.init(word: String(parts[0]), index: index)
    }
  }

  struct Entry: Hashable {
    /// As `scancel` takes it.
    var id: String
    /// All that are not over: a batch that was submitted twice has two jobs for each program, of which only one does
    /// anything.
    var unfinished: [String]
    var state: SlurmState
    /// The nodes, once there are any.
    var nodes: String
    /// The reason why it waits, or ended.
    var reason: String
  }

  private(set) var entries: [Key: Entry] = [:]

  static let arguments = [
    "squeue", "--me", "--noheader", "--array", "--states=all", "--format=%F|%K|%T|%N|%r|%k",
  ]

  static func comment(run: RunID, word: String) -> String { "weft \(run.text) \(word)" }

  /// - Parameter text: The output of `squeue`. Jobs of others are left out.
  init(_ text: String, run: RunID) {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: "|", maxSplits: 5, omittingEmptySubsequences: false)
      guard fields.count == 6 else { continue }
      let comment = fields[5].split(separator: " ")
      guard comment.count == 3, comment[0] == "weft", comment[1] == run.text else { continue }
      let index = Int(fields[1])
      let id = index.map { "\(fields[0])_\($0)" } ?? String(fields[0])
      let state = SlurmState(String(fields[2]))
      var entry = Entry(
        id: id, unfinished: state.isOver ? [] : [id], state: state, nodes: String(fields[3]),
        reason: String(fields[4]))
      let key = Key(word: String(comment[2]), index: index ?? 0)
      if let known = entries[key] {
        let unfinished = known.unfinished + entry.unfinished
        if known.state.progress >= state.progress { entry = known }
        entry.unfinished = unfinished
      }
      entries[key] = entry
    }
  }
}

/// The state of a job, in Slurm's words.
struct SlurmState: Hashable {
  let name: String

  init(_ name: String) { self.name = name }

  var isPending: Bool { name == "PENDING" || name == "CONFIGURING" }

  /// Larger for the one of two equal jobs that tells more.
  var progress: Int { isOver ? 0 : isPending ? 1 : 2 }

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
