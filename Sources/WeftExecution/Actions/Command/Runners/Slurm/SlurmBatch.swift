import WeftEvents
import WeftPlatform

/// Jobs of one step with equal requests that are submitted together, as one job or as an array.
struct SlurmBatch {
  /// The properties that all jobs of a batch share.
  struct Kind: Hashable {
    /// The index of the step.
    var step: Int
    var request: SlurmRequest
  }

  /// Found in the comment of its jobs.
  var word: String
  let request: SlurmRequest
  private(set) var jobs: [SlurmJob] = []
  /// The lines of each program.
  private(set) var lines: [[String]] = []
  /// When it may be submitted again.
  private(set) var retriesAt = Duration.zero
  private var bytes = 0
  private var firstTry: Duration?
  private var pause = Duration.seconds(2)

  /// The time during which a cluster that takes no jobs is asked again.
  private static let patience = Duration.seconds(600)

  init(word: String, request: SlurmRequest) {
    self.word = word
    self.request = request
  }

  func admits(_ more: Int) -> Bool {
    jobs.count < SlurmScript.mostJobs && bytes + more <= SlurmScript.mostBytes
  }

  mutating func add(_ job: SlurmJob, _ lines: [String], _ count: Int) {
    jobs.append(job)
    self.lines.append(lines)
    bytes += count
  }

  /// Two batches, each with a half of the jobs.
  func halves() -> [SlurmBatch] {
    let middle = jobs.count / 2
    return [0..<middle, middle..<jobs.count].map { range in
      var half = SlurmBatch(word: RemoteProgram.word(), request: request)
      for index in range { half.add(jobs[index], lines[index], 0) }
      half.bytes = bytes / 2
      return half
    }
  }

  /// - Returns: Whether it is to be submitted again.
  mutating func postpone(at now: Duration) -> Bool {
    let first = firstTry ?? now
    firstTry = first
    retriesAt = now + pause
    pause = min(pause * 2, .seconds(30))
    return now - first < Self.patience
  }

  func fail(_ failure: StepFailure) {
    for job in jobs { job.finish(.failed(failure)) }
  }
}

/// Decides when the jobs are listed again: every two seconds, and more rarely if Slurm is slow.
struct SlurmListing {
  private var next: Duration
  private var pause = Duration.seconds(2)

  init(from begin: Duration) { next = begin + pause }

  func isDue(at now: Duration) -> Bool { now >= next }

  mutating func ended(from begin: Duration, to end: Duration, isComplete: Bool) {
    // At most a tenth of the time is spent in the controller.
    let wanted = isComplete ? max(.seconds(2), (end - begin) * 10) : pause * 2
    pause = min(wanted, .seconds(30))
    next = end + pause
  }
}
