import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftFutures
import WeftPlatform

/// An attempt whose program is a job of Slurm: follows its files and its state until it has ended.
///
/// Belongs to the thread of its ``SlurmRunner``, which reports its observations to it, and carries out what it decides.
///
/// `@unchecked Sendable`: only one thread has it at any time. The thread that makes it hands it over through the lock of
/// the runner, and one thread at a time follows the jobs, each taking them from that lock.
final class SlurmJob: @unchecked Sendable {
  let attempt: Attempt
  let program: ChildProgram
  private(set) var remote: RemoteProgram
  let request: SlurmRequest
  let promise: Promise<AttemptEnd, Never>
  /// The directory of its files.
  private(set) var directory: String
  /// Whether it is in a batch.
  var isInBatch = false
  /// Its place in the batch in which it was submitted; `nil` before.
  private(set) var key: SlurmQueue.Key?
  /// Its number, as `scancel` takes it.
  private(set) var id: String?
  /// The numbers of all jobs of its program that may not be over.
  private(set) var unfinished: Set<String> = []
  private(set) var hasEnded = false
  /// The cause for which the engine ends it.
  private(set) var stopping: StopCause?
  /// The numbers of jobs whose cancellation Slurm has accepted.
  var cancelled: Set<String> = []
  var killed: Set<String> = []
  /// The time of the next attempt to cancel it.
  var cancelsAt = Duration.zero

  private var submitted: Duration?
  /// Since when it is to end at once. A cluster that does not answer is not awaited for long then.
  private var killing: Duration?
  private var began: Duration?
  private var lastOutput = Duration.zero
  private var offsets: [OutputStream: Int] = [.output: 0, .errors: 0]
  private var announced: String?
  /// The last state, if it is one that ends a job, and since when it has been known.
  private var final: (state: SlurmState?, since: Duration)?
  private var end: (end: RemoteEnd, since: Duration)?

  init(
    _ attempt: Attempt, _ program: ChildProgram, _ remote: RemoteProgram, _ request: SlurmRequest,
    _ promise: Promise<AttemptEnd, Never>, directory: String
  ) {
    self.attempt = attempt
    self.program = program
    self.remote = remote
    self.request = request
    self.promise = promise
    self.directory = directory
  }

  /// Time for files of a node to become visible here.
  private static let visibility = Duration.seconds(60)
  /// Time between a submission and the first list that must have the job.
  private static let registration = Duration.seconds(20)

  func wasSubmitted(as key: SlurmQueue.Key, id: String?, at now: Duration) {
    self.key = key
    self.id = id
    if let id { unfinished.insert(id) }
    submitted = now
  }

  /// Its batch was submitted, and the answer of Slurm is not known.
  func mayBeSubmitted(as key: SlurmQueue.Key) { self.key = key }

  /// Takes over the job that an earlier engine submitted.
  func wasAdopted(as key: SlurmQueue.Key) {
    isInBatch = true
    wasSubmitted(as: key, id: nil, at: MonotonicClock.now - Self.registration)
  }

  /// Whether Slurm does not know the job, although its program has not begun, and never will.
  var isLost: Bool {
    guard !hasEnded, let final, final.state == nil, began == nil, stopping == nil else {
      return false
    }
    return SlurmJob.claim(directory)
  }

  /// Has its program submitted again.
  func restart(in directory: String) {
    self.directory = directory
    remote.files = directory
    (key, id, submitted, final, isInBatch) = (nil, nil, nil, nil, false)
    unfinished = []
  }

  /// Ends the attempt.
  func finish(_ status: AttemptEnd.Status) {
    guard !hasEnded else { return }
    hasEnded = true
    SlurmTaking(attempt: attempt.number).keep(in: directory)
    promise.succeed(AttemptEnd(status, usage: end?.end.usage(of: attempt.command.resources)))
  }

  // MARK: Limits

  /// Whether its job is to be cancelled: its time is over, or a stop was requested.
  func mustStop(at now: Duration) -> Bool {
    if stopping == nil {
      if attempt.stop.level != .none {
        stopping = .cancelled
      } else if let began, let limit = program.timeout, now - began >= limit {
        stopping = .timeout
      } else if let began, let limit = program.stallTimeout, now - max(began, lastOutput) >= limit {
        stopping = .stall
      }
    }
    return stopping != nil
  }

  // MARK: Files

  /// Reads what is new in its files.
  func follow(at now: Duration) {
    guard key != nil else { return }
    if began == nil, isThere(SlurmScript.started) { begin(at: now) }
    guard began != nil else { return }
    for stream in [OutputStream.output, .errors] { passOutput(stream, at: now) }
    if let alarm = attempt.output.alarm, alarm <= now { attempt.output.timePassed(until: now) }
    if end == nil, let text = text(SlurmScript.end, atMost: 256), let read = RemoteEnd(text) {
      end = (read, now)
    }
  }

  private func begin(at now: Duration) {
    began = now
    lastOutput = now
  }

  private func passOutput(_ stream: OutputStream, at now: Duration) {
    let path = "\(directory)/\(SlurmScript.name(of: stream))"
    guard let file = try? Descriptor.opened(regularFile: path).file else { return }
    while let piece = try? file.piece(at: offsets[stream]!, atMost: 1 << 16), !piece.isEmpty {
      offsets[stream]! += piece.count
      lastOutput = now
      piece.withUnsafeBytes { attempt.output.take($0, from: stream, at: now) }
    }
  }

  private func isThere(_ name: String) -> Bool { FileSystem.isDirectory("\(directory)/\(name)") }

  private func text(_ name: String, atMost count: Int) -> String? {
    guard let file = try? Descriptor.opened(regularFile: "\(directory)/\(name)").file,
      let bytes = try? file.piece(at: 0, atMost: count)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Keeps the job of a directory from ever running its program, unless it has begun.
  ///
  /// - Returns: Whether it had not begun.
  static func claim(_ directory: String) -> Bool {
    do {
      try FileSystem.makeDirectory("\(directory)/\(SlurmScript.started)", mode: 0o700)
      return true
    } catch {
      return false
    }
  }

  // MARK: State

  /// Takes what `squeue` lists.
  func observe(_ queue: SlurmQueue, at now: Duration) {
    guard let key else { return }
    guard let entry = queue.entries[key] else {
      // Without an answer, it is submitted again, unless it is to end.
      let since = submitted ?? (stopping == nil ? nil : began)
      if let since, now - since >= Self.registration, final == nil { final = (nil, now) }
      return
    }
    id = entry.id
    unfinished = Set(entry.unfinished)
    if entry.state.isOver {
      if final?.state == nil { final = (entry.state, now) }
      return
    }
    final = nil
    if entry.state.isPending {
      announce("waits in Slurm: \(entry.reason)")
    } else {
      announce("job \(entry.id) on \(entry.nodes)")
    }
  }

  func announce(_ text: String) {
    guard text != announced, !hasEnded, stopping == nil else { return }
    announced = text
    attempt.publish(StepProgress(0, text: text))
  }

  /// Ends the attempt if it is known how its program ended.
  ///
  /// - Parameter log: The end of what Slurm says about the job's batch.
  func conclude(at now: Duration, log: () -> String?) {
    guard !hasEnded else { return }
    if let (end, since) = end {
      let isWhole =
        offsets[.output]! >= end.outputBytes ?? 0
        && (remote.mergesOutput || offsets[.errors]! >= end.errorBytes ?? 0)
      guard isWhole || now - since >= Self.visibility else { return }
      guard isWhole else {
        return finish(
          .failed(
            StepFailure(
              classes: [.runner],
              message: "the output of job \(id ?? "?") is not complete in \(directory)",
              help: "look at the file system that the nodes and this machine share")))
      }
      return conclude(end, since: since, at: now)
    }
    if attempt.stop.level == .now, let stopping {
      let since = killing ?? now
      killing = since
      if now - since >= Self.registration { return finish(stopped(stopping, nil)) }
    }
    guard let final else { return }
    if let stopping { return finish(stopped(stopping, nil)) }
    if let state = final.state, let status = clusterEnd(state) {
      // Another job of it may still begin, if its batch was submitted twice.
      _ = Self.claim(directory)
      return finish(status)
    }
    // The file that tells the end of the program may become visible later than its state.
    let patience = began == nil ? Self.visibility / 4 : Self.visibility
    guard now - final.since >= patience else { return }
    let said = log().map { ": \(shortened($0))" } ?? ""
    finish(
      .failed(
        StepFailure(
          classes: [.runner],
          message: final.state.map { "job \(id ?? "?") ended as \($0.name)\(said)" }
            ?? "job \(id ?? "?") is not known to Slurm any more\(said)",
          help: "its nodes must share the directory \(directory) with this machine")))
  }

  /// Ends the attempt after its program has ended, perhaps by a signal of its cluster.
  private func conclude(_ end: RemoteEnd, since: Duration, at now: Duration) {
    switch end.status {
    case .noDirectory:
      return finish(.failed(.noDirectory(on: "the node", remote.directory)))
    case .noProgram:
      return finish(.failed(.noProgram(program.arguments[0], on: "the node")))
    case .ended(let status):
      let exit = ProgramExit(
        shellStatus: status, isScript: attempt.command.invocation.script != nil)
      if let stopping { return finish(stopped(stopping, exit)) }
      if status != 0 {
        // The state of the job says whether the cluster sent the signal.
        guard let final else {
          return now - since >= Self.registration ? finish(.ended(exit)) : ()
        }
        if let state = final.state, let status = clusterEnd(state) { return finish(status) }
      }
      if let failure = keepOutputs() { return finish(.failed(failure)) }
      finish(.ended(exit))
    }
  }

  private func keepOutputs() -> StepFailure? {
    guard attempt.outputFile != nil,
      let file = try? Descriptor.opened(
        regularFile: "\(directory)/\(SlurmScript.outputs)"
      ).file, let bytes = try? file.piece(at: 0, atMost: RemoteProgram.outputLimit)
    else { return nil }
    return attempt.keep(outputs: bytes, from: "job \(id ?? "?")")
  }

  private func clusterEnd(_ state: SlurmState) -> AttemptEnd.Status? {
    let resources = attempt.command.resources
    return state.end(of: id ?? "?", limit: resources?.time, asked: resources?.memory)
  }

  private func stopped(_ cause: StopCause, _ exit: ProgramExit?) -> AttemptEnd.Status {
    switch cause {
    case .cancelled: .stopped(exit)
    case .timeout: .timedOut(after: program.timeout ?? .zero, exit)
    case .stall: .stalled(after: program.stallTimeout ?? .zero, exit)
    }
  }

  /// Ends the attempt whose job had not begun when it was cancelled.
  func concludeUnbegun() {
    if let stopping { finish(stopped(stopping, nil)) }
  }
}
