import Synchronization
import WeftDefinition
import WeftEncoding
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Runs programs as jobs of a scheduler.
///
/// The directories of jobs are in that of the run, and outlive the engine: the one that resumes the run adopts a job
/// that still runs, and takes the end of one that has ended.
final class JobRunner: RemoteRunner {
  private struct State {
    /// The directories of attempts that have ended or will.
    var directories: [JobDirectory] = []
    /// The steps in doubt that have been decided about.
    var handled: Set<StepAddress> = []
  }

  private let scheduler: any JobScheduler
  private let workingDirectory: String?
  private let run: RunID
  /// The fold of the journal of earlier engines.
  private let recorded: RunState?
  /// Jobs of steps that have another runner now.
  private let former: FormerJobs?
  /// `nil` if the run has no directory.
  private let folder: JobFolder?
  private let follower: JobFollower?
  private let threads: ThreadPool
  private let state = Mutex(State())

  /// - Parameters:
  ///   - workingDirectory: The directory to which those of steps are relative; `nil` for that of this process.
  ///   - former: Jobs that it does not end.
  init(
    _ scheduler: any JobScheduler, workingDirectory: String?, run: RunID,
    configuration: EngineConfiguration, sparing former: FormerJobs?, _ threads: ThreadPool
  ) {
    self.scheduler = scheduler
    self.former = former
    self.workingDirectory = workingDirectory
    self.run = run
    recorded = configuration.journal.recorded
    folder = JobFolder(of: configuration)
    follower = folder.map { JobFollower(scheduler, of: run, in: $0, threads) }
    self.threads = threads
  }

  func run(
    _ program: ChildProgram, for attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) -> Future<AttemptEnd, Never> {
    guard attempt.stop.level == .none else { throw .notStarted(.stopped) }
    guard let folder, let follower else {
      return Future(value: AttemptEnd(.failed(.noFolder)))
    }
    var remote = RemoteProgram(program, of: attempt, in: attempt.directory(in: workingDirectory))
    let identity = identity(of: remote)
    do {
      try scheduler.prepare(executor)
      if scheduler.traits.setsEnvironment {
        remote.variables = RemoteProgram.variables(
          of: try executor.resolver.program(for: attempt, progress: nil).environment, isHere: true)
      }
    } catch {
      throw .environment(error)
    }
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.failed(.threadEnded))))
    do throws(StepFailure) {
      let earlier = earlierDirectory(of: attempt.address, in: folder)
      let adopted = try earlier.flatMap { earlier throws(StepFailure) in
        try adopt(earlier, identity, for: attempt)
      }
      let directory: JobDirectory
      var logBytes = adopted?.logBytes ?? 0
      if let earlier, adopted != nil {
        directory = earlier
        attempt.logs.rewind(attempt.address, to: logBytes)
        state.withLock { $0.directories.append(directory) }
      } else {
        directory = try makeDirectory(of: attempt.address, in: folder)
        logBytes = attempt.logs.storedBytes(of: attempt.address)
      }
      // For a job that never began, and is submitted again.
      try keep(program.input, in: &remote, directory, isCopied: adopted != nil)
      let job = Job(
        attempt, program, remote, identity: identity, logBytes: logBytes, of: scheduler,
        in: directory, promise)
      if let key = adopted?.key { job.wasAdopted(as: key, id: number(of: key, in: folder)) }
      follower.follow(job)
    } catch {
      promise.succeed(AttemptEnd(.failed(error)))
    }
    return promise.future
  }

  func finish() -> Future<Void, Never> {
    let (directories, handled) = state.withLock { ($0.directories, $0.handled) }
    guard let folder, let follower, recorded != nil || !directories.isEmpty else {
      return Future(value: ())
    }
    let spared = former?.remaining ?? [:]
    let others =
      recorded?.steps.filter { address, step in
        step.isInDoubt && !handled.contains(address) && spared[address] == nil
      }.map(\.address) ?? []
    let (files, mayHaveLostJobs) = follower.remains
    return threads.run(ifNotRun: ()) { [self] in
      if mayHaveLostJobs || recorded != nil {
        endJobs(in: others.compactMap(folder.latest), sparing: Set(spared.values))
      }
      let paths = others.isEmpty && spared.isEmpty ? [folder.path] : directories.map(\.path) + files
      for path in paths { Directory.removeTree(path) }
    }
  }

  /// Whether a job is one of this scheduler: ``FormerJobs`` has those of others.
  private func isOwn(_ submission: JobDirectory.Submission) -> Bool {
    submission.scheduler.map { $0 == scheduler.traits.kind } ?? true
  }

  /// Ends all jobs of the run that may be left: a cluster does that by itself, and this machine is waited for.
  ///
  /// - Parameter directories: Those of jobs that no attempt has adopted.
  private func endJobs(in directories: [JobDirectory], sparing spared: Set<JobKey>) {
    let own = directories.filter { $0.submission.map(isOwn) ?? false }
    let places = Dictionary(
      own.compactMap { directory in directory.submission.map { ($0.key, directory.path) } },
      uniquingKeysWith: { one, _ in one })
    // A scheduler that does not tell ends nothing either.
    guard scheduler.list(run, places) != nil else { return }
    for directory in own { directory.mark(stop: .cancelled) }
    for kills in [false, true] {
      let end = MonotonicClock.now + StopPolicy().grace
      repeat {
        let listed = scheduler.list(run, places)?.entries.filter { !spared.contains($0.key) }
        let unfinished = listed?.values.flatMap(\.unfinished) ?? []
        if unfinished.isEmpty { return }
        scheduler.cancel(unfinished, kills: kills)
        if scheduler.traits.losesJobs { return }
        Wakeup().wait(atMost: .milliseconds(50))
      } while MonotonicClock.now < end
    }
  }

  /// The number of a job that an earlier engine submitted, if it was written down.
  private func number(of key: JobKey, in folder: JobFolder) -> String? {
    guard let words = JobDirectory.text(of: folder.number(of: key.word))?.split(separator: " "),
      let number = words.first
    else { return nil }
    return words.last == "array" ? "\(number)_\(key.index)" : String(number)
  }

  private func makeDirectory(
    of address: StepAddress, in folder: JobFolder
  ) throws(StepFailure) -> JobDirectory {
    do {
      let directory = try folder.makeDirectory(of: address)
      state.withLock { $0.directories.append(directory) }
      return directory
    } catch {
      throw StepFailure(
        classes: [.runner], message: "did not start: no directory for its job: \(error)")
    }
  }

  /// Tells programs apart. What changes from engine to engine does not count.
  private func identity(of remote: RemoteProgram) -> String {
    let parts =
      remote.arguments + [remote.directory]
      + remote.variables.filter { !$0.hasPrefix("WEFT_") && !$0.hasPrefix("TRACEPARENT=") }
    return SHA256.text(
      of: SHA256.digest(of: parts.map { "\($0.utf8.count):\($0)" }.joined().utf8))
  }

  /// Gives a program its standard input: a text is part of the script, a file is copied for the node.
  ///
  /// - Parameter isCopied: Whether an earlier engine has copied the file.
  private func keep(
    _ input: ChildProgram.Input, in remote: inout RemoteProgram, _ directory: JobDirectory,
    isCopied: Bool
  ) throws(StepFailure) {
    switch input {
    case .null: return
    case .bytes(let bytes), .held(let bytes):
      remote.inputText = String(decoding: bytes, as: UTF8.self)
    case .file(let file):
      let path = directory.file("input")
      remote.input = path
      // A directory that was made since for a job that was lost has no copy yet.
      if isCopied, (try? Descriptor.opened(regularFile: path)) != nil { return }
      do {
        let copy = try Descriptor.creating(path, .onlyNew)
        while true {
          let piece = try file.nextPiece(atMost: 1 << 16)
          if piece.isEmpty { break }
          try copy.writeAll(piece)
        }
      } catch {
        throw StepFailure(
          classes: [.runner],
          message: "did not start: its standard input cannot be copied to \(path): \(error)")
      }
    }
  }
}

// MARK: Jobs of earlier engines

extension JobRunner {
  /// The directory of the attempt that an earlier engine had started when it was killed.
  private func earlierDirectory(of address: StepAddress, in folder: JobFolder) -> JobDirectory? {
    guard let recorded, let step = recorded.steps[address], step.isInDoubt,
      state.withLock({ $0.handled.insert(address).inserted }),
      let directory = folder.latest(of: address)
    else { return nil }
    // A job of another scheduler has been ended.
    if let submission = directory.submission, !isOwn(submission) { return nil }
    // If its end was taken before the step last started, the one of that start was not made yet.
    return directory.taking?.isBefore(step) == true ? nil : directory
  }

  /// Finds the job of a directory that an earlier engine has left.
  ///
  /// - Returns: `nil` if the program is to be submitted again: it never began, or it is another one now, and the job of
  ///   the old one has been cancelled.
  private func adopt(
    _ directory: JobDirectory, _ identity: String, for attempt: Attempt
  ) throws(StepFailure) -> JobDirectory.Submission? {
    guard let submission = directory.submission else {
      if directory.claim() { return nil }
      throw StepFailure(
        classes: [.runner], message: "did not start: an earlier job of it cannot be found",
        help: "look for it with squeue, and remove \(directory.path) once it has ended")
    }
    let key = submission.key
    // A rerun that was requested does not take the end of what it replaces.
    let isOther =
      submission.identity != identity || wasCancelled(directory, key)
      || recorded?.isInDoubt(attempt.address) != true
    if !isOther, directory.stop != nil || !directory.isInterrupted, mayEnd(key, in: directory) {
      return submission
    }
    if directory.claim() { return nil }
    // A program that is running must not run beside its successor.
    try scheduler.endJob(key, in: directory, of: run, orUntilStopOf: attempt)
    scheduler.killRemains(of: attempt)
    if isOther || attempt.step.step.isMadeAgain { return nil }
    throw recorded?.steps[attempt.address].map { .inDoubt($0, in: run) } ?? .threadEnded
  }

  /// Whether the program has ended by itself, or still may: a program of this machine may have been killed with its
  /// supervisor, and what a scheduler has lost is submitted again.
  private func mayEnd(_ key: JobKey, in directory: JobDirectory) -> Bool {
    // Asked twice for the end: it may have come while the scheduler was asked.
    scheduler.traits.losesJobs || directory.end != nil || entry(key, in: directory) != nil
      || directory.end != nil
  }

  private func entry(_ key: JobKey, in directory: JobDirectory) -> JobQueue.Entry? {
    scheduler.list(run, [key: directory.path])?.entries[key]
  }

  /// Whether an engine has cancelled the job in a directory before it succeeded.
  private func wasCancelled(_ directory: JobDirectory, _ key: JobKey) -> Bool {
    guard directory.stop == .cancelled else { return false }
    guard case .ended(let status)? = directory.end?.status else { return true }
    if status == 0 { return false }
    // A program that ended by itself meanwhile has done what it does.
    let known = entry(key, in: directory)
    return known.map { $0.phase != .over || $0.state == "CANCELLED" } ?? (status >= 128)
  }
}

extension StepFailure {
  fileprivate static let noFolder = StepFailure(
    classes: [.runner],
    message: "did not start: a job of Slurm needs the directory of a recorded run",
    help: "run it with a record, in a directory that the nodes share with this machine")
}
