import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEncoding
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Runs programs as jobs of Slurm, by its commands. One thread follows all jobs while there are any.
///
/// The directories of jobs are in that of the run, and outlive the engine: the one that resumes the run adopts a job
/// that still runs, and takes the end of one that has ended.
final class SlurmRunner: RemoteRunner {
  private struct State {
    var arrived: [SlurmJob] = []
    /// Whether a thread follows the jobs.
    var isFollowing = false
    /// The directories of attempts that have ended or will.
    var directories: [String] = []
    /// Whether jobs may have been submitted that it does not follow.
    var mayHaveLostJobs = false
    var handled: Set<StepAddress> = []
    var logs: [String] = []
  }

  private let cluster: SlurmCluster
  private let plan: Plan
  private let run: RunID
  /// The fold of the journal of earlier engines.
  private let recorded: RunState?
  private let startDirectory: String?
  /// The directory of the directories of jobs; `nil` if the run has none.
  private let folder: String?
  private let commands: SlurmCommands
  private let threads: ThreadPool
  private let wakeup = Wakeup()
  private let state = Mutex(State())

  init(
    _ cluster: SlurmCluster, plan: Plan, run: RunID, configuration: EngineConfiguration,
    _ threads: ThreadPool
  ) {
    self.cluster = cluster
    self.plan = plan
    self.run = run
    recorded = configuration.journal.recorded
    startDirectory = configuration.startDirectory
    folder = configuration.journal.runDirectory.map { "\($0)/jobs" }
    commands = SlurmCommands()
    self.threads = threads
  }

  func run(
    _ program: ChildProgram, for attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) -> Future<AttemptEnd, Never> {
    guard attempt.stop.level == .none else { throw .notStarted(.stopped) }
    guard let folder else { return Future(value: AttemptEnd(.failed(.noFolder))) }
    do { try commands.prepare(executor) } catch { throw .environment(error) }
    var remote = RemoteProgram(
      program, of: attempt,
      in: attempt.directory(in: cluster.workingDirectory ?? startDirectory))
    let identity = identity(of: remote)
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.failed(.threadEnded))))
    let request = SlurmRequest(cluster, attempt.command.resources, timeout: program.timeout)
    do throws(StepFailure) {
      let earlier = earlierDirectory(of: attempt.address, in: folder)
      if let earlier, let key = try adopt(earlier, identity, for: attempt) {
        if case .started(attempt: 1)? = recorded?.steps[attempt.address]?.state {
          attempt.logs.forgetEarlier(attempt.address)
        }
        // For a job that never began, and is submitted again.
        try keep(program.input, in: &remote, earlier, isCopied: true)
        let job = SlurmJob(attempt, program, remote, request, promise, directory: earlier)
        job.wasAdopted(as: key)
        follow(job, of: executor)
        return promise.future
      }
      let directory = try makeDirectory(for: attempt.address, in: folder, identity)
      try keep(program.input, in: &remote, directory)
      remote.files = directory
      follow(
        SlurmJob(attempt, program, remote, request, promise, directory: directory), of: executor)
    } catch {
      promise.succeed(AttemptEnd(.failed(error)))
    }
    return promise.future
  }

  func finish() -> Future<Void, Never> {
    let (directories, logs, handled, mayHaveLostJobs) = state.withLock {
      ($0.directories, $0.logs, $0.handled, $0.mayHaveLostJobs || recorded != nil)
    }
    guard let folder, recorded != nil || !directories.isEmpty else { return Future(value: ()) }
    let isAllHandled = recorded.map { $0.inDoubt.allSatisfy(handled.contains) } ?? true
    return threads.run(ifNotRun: ()) { [self] in
      if mayHaveLostJobs, commands.isReady, let queue = commands.list(run) {
        commands.cancel(queue.entries.values.flatMap(\.unfinished))
      }
      for path in isAllHandled ? [folder] : directories + logs { Directory.removeTree(path) }
    }
  }
}

// MARK: Directories

extension SlurmRunner {
  private static func path(_ address: StepAddress, _ number: Int, in folder: String) -> String {
    "\(folder)/\(SHA256.text(of: SHA256.digest(of: address.text.utf8)).prefix(24)).\(number)"
  }

  /// The directory of the attempt that an earlier engine had started when it was killed.
  private func earlierDirectory(of address: StepAddress, in folder: String) -> String? {
    guard let recorded, recorded.isInDoubt(address),
      state.withLock({ $0.handled.insert(address).inserted })
    else { return nil }
    var number = 1
    while FileSystem.isDirectory(Self.path(address, number, in: folder)) { number += 1 }
    let path = Self.path(address, number - 1, in: folder)
    guard number > 1, let step = recorded.steps[address] else { return nil }
    // If its end was taken before the step last started, the one of that start was not made yet.
    if let taking = Self.read("\(path)/\(SlurmTaking.name)").flatMap(SlurmTaking.init),
      taking.isBefore(step)
    {
      return nil
    }
    return path
  }

  private func makeDirectory(
    for address: StepAddress, in folder: String, _ identity: String
  ) throws(StepFailure) -> String {
    do {
      try FileSystem.makeDirectories(folder, mode: 0o700)
      var number = 1
      while FileSystem.isDirectory(Self.path(address, number, in: folder)) { number += 1 }
      let path = Self.path(address, number, in: folder)
      try FileSystem.makeDirectory(path, mode: 0o700)
      state.withLock { $0.directories.append(path) }
      try Self.write(identity, to: "\(path)/program")
      return path
    } catch {
      throw StepFailure(
        classes: [.runner], message: "did not start: no directory for its job: \(error)")
    }
  }

  private static func write(_ text: String, to path: String) throws(WriteError) {
    let file: Descriptor
    do { file = try Descriptor.creating(path, .orEmptied) } catch { throw WriteError(error) }
    try file.writeAll(text)
  }

  static func read(_ path: String) -> String? {
    guard let file = try? Descriptor.opened(regularFile: path).file,
      let bytes = try? file.piece(at: 0, atMost: 4096)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Tells programs apart. What changes from engine to engine does not count.
  private func identity(of remote: RemoteProgram) -> String {
    let parts =
      remote.arguments + [remote.directory]
      + remote.variables.filter { !$0.hasPrefix("WEFT_") && !$0.hasPrefix("TRACEPARENT=") }
    return SHA256.text(
      of: SHA256.digest(of: parts.map { "\($0.utf8.count):\($0)" }.joined().utf8))
  }

  /// Finds the job of a directory that an earlier engine has left.
  ///
  /// - Returns: `nil` if the program is to be submitted again: it never began, or it is another one now, and the job of
  ///   the old one has been cancelled.
  private func adopt(
    _ directory: String, _ identity: String, for attempt: Attempt
  ) throws(StepFailure) -> SlurmQueue.Key? {
    guard let key = Self.read("\(directory)/job").flatMap(SlurmQueue.Key.init) else {
      if SlurmJob.claim(directory) { return nil }
      throw StepFailure(
        classes: [.runner], message: "did not start: an earlier job of it cannot be found",
        help: "look for it with squeue, and remove \(directory) once it has ended")
    }
    if Self.read("\(directory)/program") == identity, !wasCancelled(directory, key) {
      state.withLock { $0.directories.append(directory) }
      return key
    }
    // A program that is running must not run beside its successor.
    let isUnbegun = SlurmJob.claim(directory)
    while attempt.stop.level == .none, !isUnbegun {
      guard let queue = commands.list(run) else { break }
      guard let entry = queue.entries[key], !entry.state.isOver else { return nil }
      commands.cancel(entry.unfinished)
      wait(for: .seconds(2), orStopOf: attempt)
    }
    if isUnbegun { return nil }
    throw StepFailure(
      classes: [.runner], message: "did not start: an earlier job of it cannot be ended")
  }

  /// Whether an engine has cancelled the job in a directory before it succeeded.
  private func wasCancelled(_ directory: String, _ key: SlurmQueue.Key) -> Bool {
    guard FileSystem.isDirectory("\(directory)/\(Self.cancelled)") else { return false }
    let end = Self.read("\(directory)/\(SlurmScript.end)").flatMap(RemoteEnd.init)
    guard case .ended(let status)? = end?.status else { return true }
    if status == 0 { return false }
    // A program that ended by itself meanwhile has done what it does.
    let state = commands.list(run)?.entries[key]?.state
    return state.map { !$0.isOver || $0.name == "CANCELLED" } ?? (status >= 128)
  }

  /// A directory that is made before a job is cancelled.
  private static let cancelled = "cancelled"

  private func wait(for time: Duration, orStopOf attempt: Attempt) {
    let wakeup = Wakeup()
    attempt.stop.attach(wakeup)
    defer { attempt.stop.detach(wakeup) }
    if attempt.stop.level == .none { wakeup.wait(atMost: time) }
  }

  /// Gives a program its standard input: a text is part of the script, a file is copied for the node.
  ///
  /// - Parameter isCopied: Whether an earlier engine has copied the file.
  private func keep(
    _ input: ChildProgram.Input, in remote: inout RemoteProgram, _ directory: String,
    isCopied: Bool = false
  ) throws(StepFailure) {
    switch input {
    case .null: return
    case .bytes(let bytes), .held(let bytes):
      remote.inputText = String(decoding: bytes, as: UTF8.self)
    case .file(let file):
      let path = "\(directory)/input"
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

// MARK: The thread that follows the jobs

extension SlurmRunner {
  private func follow(_ job: SlurmJob, of executor: CommandExecutor) {
    job.attempt.stop.attach(wakeup)
    let mustStart = state.withLock { state in
      state.arrived.append(job)
      defer { state.isFollowing = true }
      return !state.isFollowing
    }
    guard mustStart else { return wakeup.wake() }
    do {
      try threads.submit { [self] in ThreadPool.occupyingThread { followAll() } }
    } catch {
      let jobs = state.withLock { state in
        state.isFollowing = false
        defer { state.arrived = [] }
        return state.arrived
      }
      for job in jobs {
        job.finish(
          .failed(StepFailure(classes: [.runner], message: "did not start: \(error.message)")))
      }
    }
  }

  /// The jobs that have arrived; `nil` if there are none and nothing is left to follow.
  private func takeArrived(areOthers: Bool) -> [SlurmJob]? {
    state.withLock { state in
      if state.arrived.isEmpty, !areOthers {
        state.isFollowing = false
        return nil
      }
      defer { state.arrived = [] }
      return state.arrived
    }
  }

  private func followAll() {
    var jobs: [SlurmJob] = []
    var batches: [SlurmBatch] = []
    var listing = SlurmListing(from: MonotonicClock.now)
    while let arrived = takeArrived(areOthers: !jobs.isEmpty) {
      jobs += arrived
      let now = MonotonicClock.now
      cancel(jobs.filter { $0.mustStop(at: now) })
      batches += makeBatches(jobs.filter { !$0.isInBatch && !$0.hasEnded })
      submit(&batches)
      if listing.isDue(at: MonotonicClock.now), jobs.contains(where: { $0.key != nil }) {
        let begin = MonotonicClock.now
        let queue = commands.list(run)
        listing.ended(from: begin, to: MonotonicClock.now, isComplete: queue != nil)
        if let queue {
          for job in jobs { job.observe(queue, at: MonotonicClock.now) }
        } else {
          for job in jobs { job.announce("waits for the controller of Slurm") }
        }
      }
      for job in jobs {
        job.follow(at: MonotonicClock.now)
        job.conclude(at: MonotonicClock.now) { job.key.flatMap { lastLine(of: log(of: $0.word)) } }
        if job.isLost, let directory = try? makeDirectory(again: job) { job.restart(in: directory) }
        if job.hasEnded { job.attempt.stop.detach(wakeup) }
      }
      jobs.removeAll(where: \.hasEnded)
      if !jobs.isEmpty { wakeup.wait(atMost: Self.interval(of: jobs.count)) }
    }
  }

  /// The pause between looks at the files of this number of jobs.
  private static func interval(of count: Int) -> Duration {
    min(max(.milliseconds(100), .milliseconds(2 * count)), .seconds(1))
  }

  private func makeDirectory(again job: SlurmJob) throws(StepFailure) -> String {
    guard let folder else { throw .noFolder }
    return try makeDirectory(for: job.attempt.address, in: folder, identity(of: job.remote))
  }

  private func log(of word: String) -> String { "\(folder ?? "")/\(word).log" }

  private func lastLine(of path: String) -> String? {
    Self.read(path)?.split(whereSeparator: \.isNewline).last.map(String.init)
  }

  private func cancel(_ jobs: [SlurmJob]) {
    var ids: Set<String> = []
    var killed: Set<String> = []
    for job in jobs where !job.hasEnded {
      if job.key == nil {
        // Not even submitted, or in a batch that will be: then its job does nothing.
        _ = SlurmJob.claim(job.directory)
        job.concludeUnbegun()
        continue
      }
      let now = MonotonicClock.now
      if !job.unfinished.isEmpty, job.cancelsAt <= now {
        job.cancelsAt = now + .seconds(2)
        ids.formUnion(job.unfinished.subtracting(job.cancelled))
        if job.attempt.stop.level == .now {
          killed.formUnion(job.unfinished.subtracting(job.killed))
        }
        // Without it, an engine that resumes the run takes the cancellation for a failure of the job.
        try? FileSystem.makeDirectory("\(job.directory)/\(Self.cancelled)", mode: 0o700)
      }
      if SlurmJob.claim(job.directory) { job.concludeUnbegun() }
    }
    if !ids.isEmpty, commands.cancel(ids.sorted()) {
      for job in jobs { job.cancelled.formUnion(job.unfinished.intersection(ids)) }
    }
    if !killed.isEmpty, commands.cancel(killed.sorted(), signal: "KILL") {
      for job in jobs { job.killed.formUnion(job.unfinished.intersection(killed)) }
    }
  }

  // MARK: Batches

  /// Assigns jobs to batches, in the order of their arrival. An array has the elements of one loop, so that users recognize
  /// it by its name.
  private func makeBatches(_ jobs: [SlurmJob]) -> [SlurmBatch] {
    var batches: [SlurmBatch] = []
    var latest: [SlurmBatch.Kind: Int] = [:]
    for job in jobs {
      let lines = job.remote.lines(word: RemoteProgram.word())
      let bytes = lines.reduce(0) { $0 + $1.utf8.count + 1 }
      let kind = SlurmBatch.Kind(step: job.attempt.index, request: job.request)
      var index = latest[kind]
      if let known = index, !batches[known].admits(bytes) { index = nil }
      let place = index ?? batches.count
      if index == nil {
        batches.append(SlurmBatch(word: RemoteProgram.word(), request: job.request))
        latest[kind] = place
      }
      batches[place].add(job, lines, bytes)
      job.isInBatch = true
    }
    return batches
  }

  /// Writes into the directory of each job where an engine that resumes the run finds it.
  private func name(_ batch: SlurmBatch) -> StepFailure? {
    for (index, job) in batch.jobs.enumerated() where !job.hasEnded {
      let path = "\(job.directory)/job"
      do { try Self.write(SlurmQueue.Key(word: batch.word, index: index).text, to: path) } catch {
        return .notSubmitted("\(path) cannot be written: \(error)", isLimit: false)
      }
    }
    return nil
  }

  private func submit(_ batches: inout [SlurmBatch]) {
    var left: [SlurmBatch] = []
    for var batch in batches {
      if batch.jobs.allSatisfy({ $0.hasEnded || $0.stopping != nil }) { continue }
      if batch.retriesAt > MonotonicClock.now {
        left.append(batch)
        continue
      }
      if let failure = name(batch) {
        batch.fail(failure)
        continue
      }
      state.withLock { $0.logs.append(log(of: batch.word)) }
      let arguments = SlurmScript.arguments(
        for: batch.request, name: batch.jobs[0].attempt.step.address.text,
        comment: SlurmQueue.comment(run: run, word: batch.word), count: batch.jobs.count,
        log: log(of: batch.word))
      switch commands.submit(arguments, script: SlurmScript.text(of: batch.lines)) {
      case .submitted(let id):
        for (index, job) in batch.jobs.enumerated() {
          job.wasSubmitted(
            as: SlurmQueue.Key(word: batch.word, index: index),
            id: batch.jobs.count > 1 ? "\(id)_\(index)" : id, at: MonotonicClock.now)
        }
      case .tooLarge where batch.jobs.count > 1: left += batch.halves()
      case .tooLarge: batch.fail(.notSubmitted("the array is not accepted", isLimit: true))
      case .busy(let reason):
        state.withLock { $0.mayHaveLostJobs = true }
        for (index, job) in batch.jobs.enumerated() {
          job.mayBeSubmitted(as: SlurmQueue.Key(word: batch.word, index: index))
        }
        if batch.postpone(at: MonotonicClock.now) {
          for job in batch.jobs { job.announce("waits for Slurm: \(shortened(reason))") }
          left.append(batch)
        } else {
          batch.fail(.notSubmitted(reason, isLimit: false))
        }
      case .refused(let failure): batch.fail(failure)
      }
    }
    batches = left
  }
}

extension StepFailure {
  fileprivate static let noFolder = StepFailure(
    classes: [.runner],
    message: "did not start: a job of Slurm needs the directory of a recorded run",
    help: "run it with a record, in a directory that the nodes share with this machine")

  static func notSubmitted(_ reason: String, isLimit: Bool) -> StepFailure {
    StepFailure(
      classes: isLimit ? [.limit] : [.runner],
      message: "did not start: the job was not submitted: \(shortened(reason))")
  }
}
