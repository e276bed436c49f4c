import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftFutures
import WeftPlatform

/// An attempt whose program is a job: follows its files and its state until it has ended.
///
/// Belongs to the thread of its ``JobFollower``, which reports its observations to it, and carries out what it decides.
///
/// `@unchecked Sendable`: only one thread has it at any time. The thread that makes it hands it over through the lock of
/// the follower, and one thread at a time follows the jobs, each taking them from that lock.
final class Job: @unchecked Sendable {
  let attempt: Attempt
  let program: ChildProgram
  let request: [String]
  private let identity: String
  /// The bytes in the file of the step's log before its output.
  private let logBytes: Int
  private let scheduler: any JobScheduler
  private let promise: Promise<AttemptEnd, Never>
  private(set) var remote: RemoteProgram
  private(set) var directory: JobDirectory
  private var isAdopted = false
  /// Whether it is in a batch.
  var isInBatch = false
  /// Its place in the batch in which it was submitted; `nil` before.
  private(set) var key: JobKey?
  /// Its number, as the scheduler takes it.
  private(set) var id: String?
  /// The numbers of all jobs of its program that may not be over.
  private(set) var unfinished: Set<String> = []
  private(set) var hasEnded = false
  /// The cause for which the engine ends it.
  private(set) var stopping: StopCause?
  /// Whether its files are worth a look, although it is not its turn.
  private(set) var needsLook = true
  private var cancelled: Set<String> = []
  private var killed: Set<String> = []
  /// The time of the next attempt to cancel it.
  private var cancelsAt = Duration.zero

  private var submitted: Duration?
  /// Since when it is to end at once. A scheduler that does not answer is not awaited for long then.
  private var killing: Duration?
  private var began: Duration?
  /// The last time at which its program is known not to have begun.
  private var unbegun = MonotonicClock.now
  private var lastOutput = Duration.zero
  private var offsets: [OutputStream: Int] = [.output: 0, .errors: 0]
  private var announced: String?
  /// The file in which the program reports its progress, once it has begun.
  private var progress: ProgressFiles.File?
  /// The last state, if it is one that ends a job, and since when it has been known.
  private var final: (state: String?, since: Duration)?
  /// Its entry in the last list that had one.
  private var listed: JobQueue.Entry?
  /// The number of times that the scheduler was asked for its record of the job, which may be late.
  private var recalls = 0
  /// The usage in that record.
  private var recordedUsage: ResourceUsage?
  private var end: (end: RemoteEnd, since: Duration)?

  init(
    _ attempt: Attempt, _ program: ChildProgram, _ remote: RemoteProgram, identity: String,
    logBytes: Int, of scheduler: any JobScheduler, in directory: JobDirectory,
    _ promise: Promise<AttemptEnd, Never>
  ) {
    self.attempt = attempt
    self.program = program
    self.remote = remote
    self.identity = identity
    self.logBytes = logBytes
    self.scheduler = scheduler
    self.directory = directory
    self.promise = promise
    request = scheduler.request(for: attempt, timeout: program.timeout)
    self.remote.files = directory.path
  }

  private var traits: JobTraits { scheduler.traits }

  /// Writes down that it is about to be submitted.
  func keep(_ key: JobKey) throws(WriteError) {
    try directory.keep(
      JobDirectory.Submission(
        key: key, identity: identity, logBytes: logBytes, scheduler: traits.kind))
  }

  func wasSubmitted(as key: JobKey, id: String?, at now: Duration) {
    self.key = key
    self.id = id
    if let id { unfinished.insert(id) }
    submitted = now
  }

  /// Its batch was submitted, and the answer is not known.
  func mayBeSubmitted(as key: JobKey) { self.key = key }

  /// Takes over the job that an earlier engine submitted.
  ///
  /// - Parameter id: Its number, if that is known.
  func wasAdopted(as key: JobKey, id: String?) {
    (isAdopted, isInBatch) = (true, true)
    wasSubmitted(as: key, id: nil, at: MonotonicClock.now - traits.registration)
    self.id = id
    // An earlier engine was killed while it ended the job.
    if let cause = directory.stop, cause != .cancelled { stopping = cause }
  }

  /// Whether its program has not begun, and never will: the scheduler does not know the job, or the engine that submitted
  /// it was killed before it had passed the whole script.
  var isLost: Bool {
    guard !hasEnded, began == nil, stopping == nil, let final else { return false }
    let isMissing = final.state.map { isAdopted && scheduledEnd($0) == nil } ?? traits.losesJobs
    return isMissing && directory.claim()
  }

  /// Has its program submitted again.
  func restart(in directory: JobDirectory) {
    self.directory = directory
    remote.files = directory.path
    (key, id, listed, submitted, final) = (nil, nil, nil, nil, nil)
    (isAdopted, isInBatch, recalls) = (false, false, 0)
    unfinished = []
  }

  /// Ends the attempt.
  func finish(_ status: AttemptEnd.Status) {
    guard !hasEnded else { return }
    hasEnded = true
    // A supervisor lives for a moment after it has written the end.
    if key != nil { scheduler.killRemains(of: attempt) }
    directory.keep(JobTaking(attempt: attempt.number))
    let usage = end.map(\.end.usage) ?? recordedUsage
    promise.succeed(AttemptEnd(status, usage: usage?.beside(attempt.command.resources)))
  }

  // MARK: Limits

  /// Whether its job is to be cancelled: its time is over, or a stop was requested.
  func mustStop(at now: Duration) -> Bool {
    if stopping == nil {
      if attempt.stop.level != .none {
        stopping = .cancelled
      } else if let began, let limit = program.timeout, now - began >= limit {
        stopping = .timeout
      } else if isSilent(at: now) {
        // It may have written since its last turn.
        follow(at: now)
        if isSilent(at: now) { stopping = .stall }
      }
    }
    return stopping != nil
  }

  private func isSilent(at now: Duration) -> Bool {
    guard let began, let limit = program.stallTimeout else { return false }
    return now - max(began, lastOutput) >= limit
  }

  /// The numbers of its jobs that are to be cancelled now, and to be killed.
  func cancellation(at now: Duration) -> (ending: Set<String>, killing: Set<String>) {
    guard !unfinished.isEmpty, cancelsAt <= now else { return ([], []) }
    cancelsAt = now + .seconds(2)
    directory.mark(stop: stopping ?? .cancelled)
    let kills = attempt.stop.level == .now
    return (unfinished.subtracting(cancelled), kills ? unfinished.subtracting(killed) : [])
  }

  /// The scheduler has accepted to end jobs, or to kill them.
  func wasAccepted(_ ids: Set<String>, kills: Bool) {
    let own = unfinished.intersection(ids)
    if kills { killed.formUnion(own) } else { cancelled.formUnion(own) }
  }

  // MARK: Files

  /// Reads what is new in its files.
  func follow(at now: Duration) {
    guard key != nil, !hasEnded else { return }
    needsLook = false
    if began == nil {
      // Nothing is there as long as it waits.
      guard let begin = directory.beginning(noticedAt: now, after: unbegun) else {
        unbegun = now
        return
      }
      (began, lastOutput) = (begin, now)
      if traits.kind.hasQueue { reportBegin(since: now - begin) }
      if isAdopted { attempt.wasAdopted() }
      progress = ProgressFiles.File(
        JobDirectory.progress, in: FollowedFolder(directory.path), of: attempt)
    }
    for stream in [OutputStream.output, .errors] { passOutput(stream, at: now) }
    if let alarm = attempt.output.alarm, alarm <= now { attempt.output.timePassed(until: now) }
    if end == nil, let read = directory.end { end = (read, now) }
    progress?.look(isFinal: end != nil)
    needsLook = end != nil || final != nil
  }

  /// Reports that it has left the queue, which voids what was announced before.
  private func reportBegin(since time: Duration) {
    attempt.began(time)
    announced = nil
    if let listed, listed.phase == .running, let news = listed.news { announce(news) }
  }

  private func passOutput(_ stream: OutputStream, at now: Duration) {
    if stream == .errors, remote.mergesOutput { return }
    let path = directory.file(JobDirectory.name(of: stream))
    guard let file = try? Descriptor.opened(regularFile: path).file else { return }
    while let piece = try? file.piece(at: offsets[stream]!, atMost: 1 << 16), !piece.isEmpty {
      offsets[stream]! += piece.count
      lastOutput = now
      piece.withUnsafeBytes { attempt.output.take($0, from: stream, at: now) }
    }
  }

  // MARK: State

  /// Takes what the scheduler lists.
  func observe(_ queue: JobQueue, at now: Duration) {
    guard let key else { return }
    guard let entry = queue.entries[key] else {
      // Without an answer, it is submitted again, unless it is to end.
      let since = submitted ?? (stopping == nil ? nil : began)
      if let since, now - since >= traits.registration, final == nil { end(in: nil, at: now) }
      return
    }
    if entry != listed {
      if entry.phase != listed?.phase ?? .waiting { needsLook = true }
      listed = entry
      id = entry.id
      unfinished = Set(entry.unfinished)
    }
    if entry.phase == .over {
      if final?.state == nil { end(in: entry.state, at: now) }
      return
    }
    final = nil
    if let news = entry.news { announce(news) }
  }

  private func end(in state: String?, at now: Duration) {
    final = (state, now)
    needsLook = true
  }

  func announce(_ text: String) {
    guard text != announced, !hasEnded, stopping == nil else { return }
    announced = text
    attempt.publish(StepProgress(0, text: text))
  }

  /// Its number, if only the scheduler's records may tell how it ended, or what a program used that its scheduler ended.
  func recalledID(at now: Duration) -> String? {
    guard let final, end == nil, let id else { return nil }
    let isDue =
      if let state = final.state {
        recalls == 0 && began != nil && scheduledEnd(state) != nil
      } else {
        stopping == nil && (recalls == 0 || recalls == 1 && now - final.since >= patience)
      }
    guard isDue else { return nil }
    recalls += 1
    return id
  }

  /// Takes its last state, unless it is known, and its usage from the scheduler's record.
  func recall(_ record: JobRecord) {
    if final?.state == nil { final?.state = record.state }
    recordedUsage = record.usage
  }

  // MARK: The end

  /// The file that tells the end of the program may become visible later than its state.
  private var patience: Duration { began == nil ? traits.visibility / 4 : traits.visibility }

  /// Ends the attempt if it is known how its program ended.
  ///
  /// - Parameter log: The end of what the scheduler says about the job's batch.
  func conclude(at now: Duration, log: () -> String?) {
    guard !hasEnded else { return }
    if let (end, since) = end {
      let isWhole =
        offsets[.output]! >= end.outputBytes ?? 0
        && (remote.mergesOutput || offsets[.errors]! >= end.errorBytes ?? 0)
      if isWhole { return conclude(end, since: since, at: now) }
      if now - since >= traits.visibility {
        finish(
          .failed(
            StepFailure(
              classes: [.runner],
              message: "the output of job \(id ?? "?") is not complete in \(directory.path)",
              help: "look at the file system that the nodes and this machine share")))
      }
      return
    }
    if attempt.stop.level == .now, let stopping {
      let since = killing ?? now
      killing = since
      if now - since >= traits.registration { return finish(stopped(stopping, nil)) }
    }
    guard let final else { return }
    if let stopping { return finish(stopped(stopping, nil)) }
    if let state = final.state, let status = scheduledEnd(state) {
      // Another job of it may still begin, if its batch was submitted twice.
      _ = directory.claim()
      return finish(status)
    }
    guard now - final.since >= patience else { return }
    guard traits.losesJobs else { return finish(.failed(.supervisorKilled)) }
    let said = log().map { ": \(shortened($0))" } ?? ""
    finish(
      .failed(
        StepFailure(
          classes: [.runner],
          message: final.state.map { "job \(id ?? "?") ended as \($0)\(said)" }
            ?? "job \(id ?? "?") is not known to \(traits.name) any more\(said)",
          help: "its nodes must share the directory \(directory.path) with this machine")))
  }

  /// Ends the attempt after its program has ended, perhaps by a signal of its scheduler.
  private func conclude(_ end: RemoteEnd, since: Duration, at now: Duration) {
    switch end.status {
    case .noDirectory: return finish(.failed(.noDirectory(on: traits.place, remote.directory)))
    case .noProgram: return finish(.failed(.noProgram(program.arguments[0], on: traits.place)))
    case .ended(let status):
      let exit = ProgramExit(
        shellStatus: status, isScript: attempt.command.invocation.script != nil)
      if let stopping { return finish(stopped(stopping, exit)) }
      if status != 0 {
        // The state of the job says whether the scheduler sent the signal.
        guard final != nil || now - since >= traits.explanation else { return }
        if let state = final?.state, let status = scheduledEnd(state) { return finish(status) }
      }
      if let failure = keepOutputs() { return finish(.failed(failure)) }
      finish(.ended(exit))
    }
  }

  private func keepOutputs() -> StepFailure? {
    guard attempt.outputFile != nil,
      let file = try? Descriptor.opened(regularFile: directory.file(JobDirectory.outputs)).file,
      let bytes = try? file.piece(at: 0, atMost: RemoteProgram.outputLimit)
    else { return nil }
    return attempt.keep(outputs: bytes, from: "job \(id ?? "?")")
  }

  private func scheduledEnd(_ state: String) -> AttemptEnd.Status? {
    scheduler.end(of: id ?? "?", in: state, of: attempt)
  }

  private func stopped(_ cause: StopCause, _ exit: ProgramExit?) -> AttemptEnd.Status {
    AttemptEnd.Status(stoppedBy: cause, exit, of: program)
  }

  /// Ends the attempt whose job had not begun when it was cancelled.
  func concludeUnbegun() {
    if let stopping { finish(stopped(stopping, nil)) }
  }
}

extension StepFailure {
  fileprivate static let supervisorKilled = StepFailure(
    classes: [.runner],
    message: "was killed, because the shell that supervised it was killed",
    help: "\"onInterrupted\": \"adopt\" runs a command under a shell of its own")
}
