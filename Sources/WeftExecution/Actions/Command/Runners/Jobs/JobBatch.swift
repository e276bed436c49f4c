import WeftEvents

/// Jobs of one step with equal requests that are submitted together, as one job or as an array.
struct JobBatch {
  /// The properties that all jobs of a batch share.
  struct Kind: Hashable {
    /// The index of the step.
    var step: Int
    var request: [String]
  }

  /// Found in the comment of its jobs.
  let word: String
  let request: [String]
  private(set) var jobs: [Job] = []
  /// The lines of each program.
  private(set) var lines: [[String]] = []
  /// When it may be submitted again.
  private(set) var retriesAt = Duration.zero
  private var bytes = 0
  private var firstTry: Duration?
  private var pause = Duration.seconds(2)

  /// The time during which a cluster that takes no jobs is asked again.
  private static let patience = Duration.seconds(600)

  init(word: String, request: [String]) {
    self.word = word
    self.request = request
  }

  func admits(_ more: Int, atMost count: Int) -> Bool {
    jobs.count < count && bytes + more <= JobScript.mostBytes
  }

  mutating func add(_ job: Job, _ lines: [String], _ count: Int) {
    jobs.append(job)
    self.lines.append(lines)
    bytes += count
  }

  /// Two batches, each with a half of the jobs.
  func halves() -> [JobBatch] {
    let middle = jobs.count / 2
    return [0..<middle, middle..<jobs.count].map { range in
      var half = JobBatch(word: RemoteProgram.word(), request: request)
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

  /// Fails its jobs, except those that have begun because an earlier submission was accepted after all.
  func fail(_ failure: StepFailure) {
    for job in jobs where !job.hasEnded && job.directory.claim() { job.finish(.failed(failure)) }
  }
}

/// Decides when the jobs are listed again: more rarely if the scheduler is slow.
struct JobListing {
  private let least: Duration
  private var next: Duration
  private var pause: Duration

  /// - Parameter least: The least time between two lists.
  init(from begin: Duration, every least: Duration) {
    self.least = least
    pause = least
    next = begin + pause
  }

  func isDue(at now: Duration) -> Bool { now >= next }

  mutating func ended(from begin: Duration, to end: Duration, isComplete: Bool) {
    // At most a twentieth of the time is spent in the scheduler.
    let wanted = isComplete ? max(least, (end - begin) * 20) : pause * 2
    pause = min(wanted, .seconds(30))
    next = end + pause
  }
}

/// Decides which jobs have their files read in a pass: opening files of a shared file system takes time, and there may be
/// thousands of jobs.
struct JobTurns {
  private var next = 0

  /// The number of jobs up to which all are read in each pass.
  static let atOnce = 20

  /// The number of jobs that are read in a second, if there are many.
  static let rate = 150

  /// The pause between passes over this number of jobs.
  static func pause(of count: Int) -> Duration {
    if count <= atOnce { return .milliseconds(100) }
    return min(max(.seconds(1) * atOnce / rate, .microseconds(500 * count)), .seconds(1))
  }

  /// The indices of the jobs to read now.
  mutating func take(of count: Int) -> Range<Int> {
    if count <= Self.atOnce { return 0..<count }
    if next >= count { next = 0 }
    let share = max(Self.atOnce, Int(Self.pause(of: count) / .seconds(1) * Double(Self.rate)))
    let turn = next..<min(next + share, count)
    next = turn.upperBound
    return turn
  }
}
