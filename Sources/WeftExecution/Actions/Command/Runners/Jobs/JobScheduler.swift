import WeftDefinition
import WeftEvents
import WeftPlatform

/// A service that runs programs as jobs, which outlive the engine: Slurm, or this machine.
///
/// Several threads may ask it at the same time. It keeps no state of jobs: that is in their directories, see ``JobDirectory``.
protocol JobScheduler: Sendable {
  var traits: JobTraits { get }

  /// Must be called before the first submission; may be called again.
  func prepare(_ executor: CommandExecutor) throws(EnvironmentError)

  /// Settings of its own with which the program of an attempt is submitted. Only jobs with equal requests are submitted
  /// together.
  func request(for attempt: Attempt, timeout: Duration?) -> [String]

  func submit(_ batch: JobBatch, in folder: JobFolder, of run: RunID) -> JobSubmission

  /// The jobs of a run.
  ///
  /// - Parameter places: The directories of the jobs to look for.
  /// - Returns: `nil` if it does not tell.
  func list(_ run: RunID, _ places: @autoclosure () -> [JobKey: String]) -> JobQueue?

  /// Its records of jobs that are over, by their numbers.
  func recall(_ ids: [String]) -> [String: JobRecord]

  /// Ends jobs, with a grace period; or kills all their processes.
  ///
  /// - Returns: Whether it was accepted.
  @discardableResult
  func cancel(_ ids: [String], kills: Bool) -> Bool

  /// The end of a job that the scheduler ended; `nil` if its program ended by itself, or that is not known.
  func end(of job: String, in state: String, of attempt: Attempt) -> AttemptEnd.Status?

  /// Kills what is left of the program of an attempt, and of its supervisor, and waits for their death. A cluster does
  /// that by itself.
  func killRemains(of attempt: Attempt)

  /// Gives up commands that do not end.
  func hurry()
}

extension JobScheduler {
  /// Ends a job that an earlier engine has submitted, and blocks the calling thread until it has ended.
  func endJob(
    _ key: JobKey, in directory: JobDirectory, of run: RunID, orUntilStopOf attempt: Attempt
  ) throws(StepFailure) {
    while attempt.stop.level == .none {
      guard let queue = list(run, [key: directory.path]) else { break }
      guard let entry = queue.entries[key], entry.phase != .over else { return }
      cancel(entry.unfinished, kills: false)
      wait(for: traits.listing, orStopOf: attempt)
    }
    throw StepFailure(
      classes: [.runner], message: "did not start: an earlier job of it cannot be ended")
  }

  private func wait(for time: Duration, orStopOf attempt: Attempt) {
    let wakeup = Wakeup()
    attempt.stop.attach(wakeup)
    defer { attempt.stop.detach(wakeup) }
    if attempt.stop.level == .none { wakeup.wait(atMost: time) }
  }
}

/// The properties by which schedulers differ.
struct JobTraits {
  var kind: JobKind
  /// As in "not known to Slurm".
  var name: String
  /// The place of its programs, as in messages.
  var place: String
  /// The most jobs that are submitted together.
  var mostJobs: Int
  /// Whether it may lose a job that it has accepted. Otherwise a job that is gone was killed.
  var losesJobs: Bool
  /// The time between a submission and the first list that must have the job.
  var registration: Duration
  /// The time for which a program that failed waits for the word of the scheduler on the cause.
  var explanation: Duration
  /// The time for files to become visible here.
  var visibility: Duration
  /// The least time between two lists.
  var listing: Duration
  /// Whether programs get all variables of their environment, rather than only those that the workflow sets.
  var setsEnvironment: Bool
}

enum JobSubmission {
  /// The number of the job or of the array.
  case submitted(String)
  /// The array has too many jobs.
  case tooLarge
  /// It does not answer, or takes no more jobs now. Perhaps the jobs were submitted.
  case busy(String)
  case refused(StepFailure)
}

/// A job that is over, as its scheduler has recorded it.
struct JobRecord: Hashable {
  /// In the scheduler's words.
  var state: String
  var usage: ResourceUsage?
}

/// A job of a run, whatever number its scheduler gave it.
struct JobKey: Hashable {
  /// The word of its batch.
  var word: String
  /// The index in the batch.
  var index: Int
}

/// The jobs of a run as their scheduler lists them.
struct JobQueue {
  struct Entry: Hashable {
    /// As the scheduler takes it.
    var id: String
    /// All that are not over: a batch that was submitted twice has two jobs for each program, of which only one does
    /// anything.
    var unfinished: [String]
    /// In the scheduler's words.
    var state: String
    var phase: Phase
    /// A text for users.
    var news: String?
  }

  /// Ordered: of two jobs of a program, the one in the later phase tells more.
  enum Phase: Int {
    case over, waiting, running
  }

  private(set) var entries: [JobKey: Entry] = [:]

  mutating func add(_ new: Entry, _ key: JobKey) {
    guard let known = entries[key] else {
      entries[key] = new
      return
    }
    var entry = known.phase.rawValue >= new.phase.rawValue ? known : new
    entry.unfinished = known.unfinished + new.unfinished
    entries[key] = entry
  }
}
