import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlatform

/// The thread that submits the jobs of a runner, follows them, and cancels them. There is one while there are jobs.
final class JobFollower: Sendable {
  private struct State {
    var arrived: [Job] = []
    /// Whether a thread follows the jobs.
    var isFollowing = false
    /// Whether jobs may have been submitted that it does not follow.
    var mayHaveLostJobs = false
    /// The files of batches.
    var files: [String] = []
  }

  private let scheduler: any JobScheduler
  private let run: RunID
  private let folder: JobFolder
  private let threads: ThreadPool
  private let wakeup = Wakeup()
  private let state = Mutex(State())

  init(_ scheduler: any JobScheduler, of run: RunID, in folder: JobFolder, _ threads: ThreadPool) {
    self.scheduler = scheduler
    self.run = run
    self.folder = folder
    self.threads = threads
  }

  /// The files of batches, and whether jobs may have been submitted that it does not follow.
  var remains: (files: [String], mayHaveLostJobs: Bool) {
    state.withLock { ($0.files, $0.mayHaveLostJobs) }
  }

  func follow(_ job: Job) {
    job.attempt.stop.attach(wakeup)
    // After a second request, a command that does not end must not keep users waiting.
    job.attempt.stop.whenRequested(.now) { [scheduler] in scheduler.hurry() }
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
  private func takeArrived(areOthers: Bool) -> [Job]? {
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
    var jobs: [Job] = []
    var batches: [JobBatch] = []
    var listing = JobListing(from: MonotonicClock.now, every: scheduler.traits.listing)
    var turns = JobTurns()
    while let arrived = takeArrived(areOthers: !jobs.isEmpty) {
      jobs += arrived
      cancel(jobs)
      batches += makeBatches(jobs.filter { !$0.isInBatch && !$0.hasEnded })
      submit(&batches)
      if listing.isDue(at: MonotonicClock.now) { list(jobs, &listing) }
      recall(jobs)
      let turn = turns.take(of: jobs.count)
      for (index, job) in jobs.enumerated() where turn.contains(index) || job.needsLook {
        job.follow(at: MonotonicClock.now)
        job.conclude(at: MonotonicClock.now) {
          job.key.flatMap { lastLine(of: folder.log(of: $0.word)) }
        }
        if job.isLost, let directory = try? folder.makeDirectory(of: job.attempt.address) {
          job.restart(in: directory)
        }
      }
      for job in jobs where job.hasEnded { job.attempt.stop.detach(wakeup) }
      jobs.removeAll(where: \.hasEnded)
      if !jobs.isEmpty { wakeup.wait(atMost: JobTurns.pause(of: jobs.count)) }
    }
  }

  private func lastLine(of path: String) -> String? {
    JobDirectory.text(of: path)?.split(whereSeparator: \.isNewline).last.map(String.init)
  }

  private func list(_ jobs: [Job], _ listing: inout JobListing) {
    guard jobs.contains(where: { $0.key != nil }) else { return }
    let begin = MonotonicClock.now
    let queue = scheduler.list(run, places(of: jobs))
    listing.ended(from: begin, to: MonotonicClock.now, isComplete: queue != nil)
    if let queue {
      for job in jobs { job.observe(queue, at: MonotonicClock.now) }
    } else {
      for job in jobs { job.announce("waits for the controller of \(scheduler.traits.name)") }
    }
  }

  private func places(of jobs: [Job]) -> [JobKey: String] {
    let keys = jobs.lazy.compactMap { job in job.key.map { ($0, job.directory.path) } }
    return Dictionary(keys, uniquingKeysWith: { one, _ in one })
  }

  private func recall(_ jobs: [Job]) {
    let ended = jobs.compactMap { job in
      job.recalledID(at: MonotonicClock.now).map { (job, $0) }
    }
    if ended.isEmpty { return }
    let records = scheduler.recall(ended.map(\.1))
    for (job, id) in ended { records[id].map(job.recall) }
  }

  private func cancel(_ jobs: [Job]) {
    var (ending, killing): (Set<String>, Set<String>) = ([], [])
    let now = MonotonicClock.now
    let stopped = jobs.filter { !$0.hasEnded && $0.mustStop(at: now) }
    for job in stopped {
      let ids = job.cancellation(at: now)
      ending.formUnion(ids.ending)
      killing.formUnion(ids.killing)
      // Not even submitted, or in a batch that will be, or not begun: then its job does nothing.
      if job.directory.claim() || job.key == nil { job.concludeUnbegun() }
    }
    for (ids, kills) in [(ending, false), (killing, true)] where !ids.isEmpty {
      guard scheduler.cancel(ids.sorted(), kills: kills) else { continue }
      for job in stopped { job.wasAccepted(ids, kills: kills) }
    }
  }

  // MARK: Batches

  /// Assigns jobs to batches, in the order of their arrival. An array has the elements of one loop, so that users recognize
  /// it by its name.
  private func makeBatches(_ jobs: [Job]) -> [JobBatch] {
    var batches: [JobBatch] = []
    var latest: [JobBatch.Kind: Int] = [:]
    for job in jobs {
      let lines = job.remote.lines(word: RemoteProgram.word())
      let bytes = lines.reduce(0) { $0 + $1.utf8.count + 1 }
      let kind = JobBatch.Kind(step: job.attempt.index, request: job.request)
      var index = latest[kind]
      if let known = index, !batches[known].admits(bytes, atMost: scheduler.traits.mostJobs) {
        index = nil
      }
      let place = index ?? batches.count
      if index == nil {
        batches.append(JobBatch(word: RemoteProgram.word(), request: job.request))
        latest[kind] = place
      }
      batches[place].add(job, lines, bytes)
      job.isInBatch = true
    }
    return batches
  }

  /// Writes into the directory of each job where an engine that resumes the run finds it.
  private func name(_ batch: JobBatch) -> StepFailure? {
    for (index, job) in batch.jobs.enumerated() where !job.hasEnded {
      do { try job.keep(JobKey(word: batch.word, index: index)) } catch {
        return .notSubmitted("\(job.directory.path) cannot be written: \(error)", isLimit: false)
      }
    }
    return nil
  }

  private func submit(_ batches: inout [JobBatch]) {
    var left: [JobBatch] = []
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
      state.withLock {
        $0.files += [folder.log(of: batch.word), folder.number(of: batch.word)]
      }
      switch scheduler.submit(batch, in: folder, of: run) {
      case .submitted(let id):
        // Without it, an engine that resumes the run cannot ask for jobs that are not listed any more.
        try? JobDirectory.write(
          batch.jobs.count > 1 ? "\(id) array" : id, to: folder.number(of: batch.word))
        for (index, job) in batch.jobs.enumerated() {
          job.wasSubmitted(
            as: JobKey(word: batch.word, index: index),
            id: batch.jobs.count > 1 ? "\(id)_\(index)" : id, at: MonotonicClock.now)
        }
      case .tooLarge where batch.jobs.count > 1: left += batch.halves()
      case .tooLarge: batch.fail(.notSubmitted("the array is not accepted", isLimit: true))
      case .busy(let reason):
        state.withLock { $0.mayHaveLostJobs = true }
        for (index, job) in batch.jobs.enumerated() {
          job.mayBeSubmitted(as: JobKey(word: batch.word, index: index))
        }
        if batch.postpone(at: MonotonicClock.now) {
          for job in batch.jobs {
            job.announce("waits for \(scheduler.traits.name): \(shortened(reason))")
          }
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
  static func notSubmitted(_ reason: String, isLimit: Bool) -> StepFailure {
    StepFailure(
      classes: isLimit ? [.limit] : [.runner],
      message: "did not start: the job was not submitted: \(shortened(reason))")
  }
}
