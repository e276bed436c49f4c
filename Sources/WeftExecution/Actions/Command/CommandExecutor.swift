import WeftCurl
import WeftDefinition
package import WeftEvents
package import WeftFutures
import WeftHTTP
package import WeftPlanning
package import WeftPlatform

/// Runs commands as child processes, each on a thread of its own that is blocked while the program runs.
package final class CommandExecutor: StepExecutor {
  let plan: Plan
  let resolver: CommandResolver
  private let starts: StartQueue
  let threads: ThreadPool
  let time: any TimeSource
  /// For the requests that look whether services are ready.
  let probeTransport: any Transport
  private let stopPolicy: StopPolicy
  let maxParallel: Int
  let enclosing: any Containment
  let terminal: (any TerminalAccess)?
  let joined: JoinedJobserver?
  let jobserverForms = JobserverForms()
  private let progress: ProgressFiles
  private let runners: RemoteRunners

  /// - Parameter time: For attempts that wait for resources; if `nil`, they fail instead.
  /// - Throws: If the requested containment is not available.
  package init(
    plan: Plan, run: RunID, configuration: EngineConfiguration, threads: ThreadPool,
    time: (any TimeSource)?
  ) throws(ContainmentError) {
    let cookie = configuration.journal.cookie ?? EngineCookie()
    self.plan = plan
    resolver = CommandResolver(
      plan: plan, run: run, cookie: cookie, configuration: configuration)
    enclosing = try Containments.make(
      configuration.resources.containment, run: run.text, cookie: cookie, entries: resolver.cookie)
    self.threads = threads
    runners = RemoteRunners(
      plan: plan, run: run, configuration: configuration, threads: threads, enclosing: enclosing)
    starts = StartQueue(threads, time: time)
    stopPolicy = configuration.stopPolicy
    maxParallel = configuration.maxParallel(for: plan)
    terminal = configuration.resources.terminal
    joined = configuration.resources.jobserver
    progress = ProgressFiles(time: time)
    self.time = time ?? Timers()
    probeTransport = configuration.resources.transport ?? CurlTransport()
  }

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let promise = Promise<AttemptEnd, Never>(
      ifDropped: .success(AttemptEnd(.failed(.threadEnded))))
    starts.submit(
      StartQueue.Request(for: attempt, promise) { [self] in
        do throws(StepFailure) { try runners.endFormerJob(of: attempt, in: self) } catch {
          promise.succeed(AttemptEnd(.failed(error)))
          return nil
        }
        do throws(AttemptStartError) {
          if let end = try runElsewhere(attempt) {
            end.whenSettled { promise.succeed($0.get()) }
          } else {
            promise.succeed(try run(attempt))
          }
        } catch {
          if let shortage = ResourceExhaustion(error) { return shortage }
          let valueFailure = UnpassableValue(error)?.failure(of: attempt, in: plan)
          promise.succeed(AttemptEnd(valueFailure.map { .failed($0) } ?? error.status))
        }
        return nil
      })
    return promise.future
  }

  /// Hands the attempt's program to its runner; `nil` if that is this machine.
  private func runElsewhere(
    _ attempt: Attempt
  ) throws(AttemptStartError) -> Future<AttemptEnd, Never>? {
    guard let runner = runners.runner(of: attempt.step) else { return nil }
    return try runner.run(program(for: attempt, by: runners.resolver), for: attempt, in: self)
  }

  /// Runs the attempt's program to its end on the calling thread.
  private func run(_ attempt: Attempt) throws(AttemptStartError) -> AttemptEnd {
    let file = progress.begin(attempt)
    defer { progress.end(file) }
    let program = try program(for: attempt, by: resolver, progress: file?.path)
    return try attempt.command.usesJobserver
      ? startWithJobserver(program, for: attempt) : start(program, for: attempt)
  }

  private func program(
    for attempt: Attempt, by resolver: CommandResolver, progress: String? = nil
  ) throws(AttemptStartError) -> ChildProgram {
    var program: ChildProgram
    do { program = try resolver.program(for: attempt, progress: progress) } catch {
      throw .environment(error)
    }
    let command = attempt.command
    program.stopPolicy = stopPolicy.following(command.stop)
    program.stallTimeout = command.stallTimeout
    program.mergesOutput = command.mergesOutput
    program.successCodes = command.successCodes.map { Int32(clamping: $0) }
    program.keepsLeftovers = command.leftovers == .keep
    program.countsTimeFrom = MonotonicClock.now
    program.input = try input(of: attempt, limits: program)
    return program
  }

  func start(
    _ program: ChildProgram, for attempt: Attempt
  ) throws(AttemptStartError) -> AttemptEnd {
    let end = try start(program, for: attempt, output: attempt.output)
    if end.keptProcesses { attempt.recordKeptProcesses() }
    return AttemptEnd(
      end, of: program, usage: ResourceUsage(end.usage, of: attempt.command.resources))
  }

  /// Runs a program of the attempt to its end, on the calling thread.
  func start(
    _ program: ChildProgram, for attempt: Attempt, output: some ProgramOutput
  ) throws(AttemptStartError) -> ProgramEnd {
    do { return try startOnce(program, for: attempt, output: output) } catch {
      // The control group in which programs of the run are started has been removed.
      guard case .notStarted(.resources(.notFound)) = error, enclosing.restore() else {
        throw error
      }
      return try startOnce(program, for: attempt, output: output)
    }
  }

  private func startOnce(
    _ program: ChildProgram, for attempt: Attempt, output: some ProgramOutput
  ) throws(AttemptStartError) -> ProgramEnd {
    var program = program
    let enclosure: any Enclosure
    let (resolver, step, number) = (resolver, attempt.address, attempt.number)
    do {
      enclosure = try enclosing.enclose(cookie: resolver.cookie(of: step, attempt: number))
    } catch {
      throw .notStarted(.resources(error))
    }
    program.enclosure = enclosure
    let started: (StartedProgram) -> Void = { [starts] program in
      starts.programStarted()
      attempt.spawned(program)
    }
    do {
      // A line of output may make a service ready, and other steps with it.
      let end = try ThreadPool.occupyingThread { () throws(SpawnError) in
        try attempt.command.usesTerminal
          ? runAtTerminal(program, for: attempt, started: started)
          : program.run(stop: attempt.stop, started: started, output: output)
      }
      starts.programEnded()
      return end
    } catch {
      enclosure.abandoned()
      throw .notStarted(error)
    }
  }

  package var containment: WeftEvents.ContainmentLevel? {
    WeftEvents.ContainmentLevel(enclosing.level)
  }

  package func jobKind(of step: PlannedStep) -> JobKind? { runners.jobKind(of: step) }

  package func finish(stop: StopSwitch) -> Future<RunOrphans, Never> {
    runners.finish().flatMap { [self] in finishHere(stop: stop) }
  }

  private func finishHere(stop: StopSwitch) -> Future<RunOrphans, Never> {
    guard enclosing.mayHoldOrphans else {
      enclosing.close()
      return Future(value: RunOrphans())
    }
    let promise = Promise<RunOrphans, Never>(ifDropped: .success(RunOrphans()))
    let end: @Sendable () -> Void = { [self] in
      let orphans = RunOrphans(enclosing.endOrphans(stopPolicy, stop: stop))
      enclosing.close()
      promise.succeed(orphans)
    }
    // Without another thread this one can wait: the run has no other work left.
    do { try threads.submit(end) } catch { end() }
    return promise.future
  }

  private func input(
    of attempt: Attempt, limits program: ChildProgram
  ) throws(AttemptStartError) -> ChildProgram.Input {
    switch attempt.command.stdin {
    case nil: return .null
    case .text(let text): return .bytes(Array(text.utf8))
    case .file(let path):
      let place = path.resolved(from: resolver.directory(of: attempt.resolved))
      return .file(try open(place, for: attempt, limits: program))
    case .log(let need): return .file(try attempt.inputLog(of: need, in: plan))
    }
  }

  /// Opens the step's input; opening a FIFO may take the step's whole time limit.
  private func open(
    _ path: String, for attempt: Attempt, limits program: ChildProgram
  ) throws(AttemptStartError) -> Descriptor {
    let limit = [program.timeout, program.stallTimeout].compactMap(\.self).min()
    let end = limit.map { (program.countsTimeFrom ?? MonotonicClock.now) + $0 }
    do {
      return try Descriptor.opened(forReading: path, stop: attempt.stop, until: end)
    } catch {
      switch error {
      case .refused(let error): throw .input(path: path, error)
      case .stopped: throw .notStarted(.stopped)
      case .timedOut where limit == program.timeout: throw .timedOut(after: limit ?? .zero)
      case .timedOut: throw .stalled(after: limit ?? .zero)
      }
    }
  }
}

extension Attempt {
  /// The command to run; the executor only gets attempts with one.
  var command: Command {
    guard let command = resolved.command else {
      preconditionFailure("\(address) is to run a command and has none")
    }
    return command
  }
}

extension Command {
  /// The command line.
  func arguments(shell: @autoclosure () -> Shell) -> [String] {
    switch invocation {
    case .program(let arguments): arguments
    case .script, .file: shell().prefix + [invocation.script ?? ""]
    }
  }
}

extension CommandExecutor {
  /// Runs the attempt's program with a jobserver, on the calling thread.
  func startWithJobserver(
    _ program: ChildProgram, for attempt: Attempt
  ) throws(AttemptStartError) -> AttemptEnd {
    var program = program
    let jobserver: StepJobserver
    do { jobserver = try offerJobserver(to: &program, for: attempt) } catch {
      throw .notStarted(error)
    }
    defer { jobserver.remove() }
    guard let pipe = jobserver.pipe else { return try start(program, for: attempt) }
    attempt.slots.beginLending(to: attempt.instanceNumber, through: pipe)
    defer { attempt.slots.endLending(to: attempt.instanceNumber) }
    return try start(program, for: attempt)
  }

  private func offerJobserver(
    to program: inout ChildProgram, for attempt: Attempt
  ) throws(SpawnError) -> StepJobserver {
    let jobserver: StepJobserver
    if let joined {
      jobserver = StepJobserver(passingOn: joined)
    } else {
      let form = try jobserverForms.form(for: program, in: enclosing, stop: attempt.stop)
      do { jobserver = try StepJobserver(form, in: attempt.folder) } catch {
        throw .resources(error)
      }
    }
    let flags = MakeFlags(program.environment["MAKEFLAGS"] ?? "")
    let offer = flags.offering(jobserver.address, jobs: maxParallel)
    // The text has no NUL: only a path of the system's and numbers are added.
    if let environment = try? program.environment.setting([("MAKEFLAGS", offer)]) {
      program.environment = environment
    }
    program.further = jobserver.further
    return jobserver
  }
}

extension StopPolicy {
  /// The policy with the parts that a command overrides.
  func following(_ request: StopRequest?) -> StopPolicy {
    StopPolicy(
      signal: request?.signal.flatMap(Signal.init(name:)) ?? signal,
      grace: request?.grace ?? grace)
  }
}

extension WeftPlatform.ContainmentLevel {
  package init(_ level: WeftEvents.ContainmentLevel) {
    self =
      switch level {
      case .cgroup: .cgroup
      case .subreaper: .subreaper
      case .groupAndCookie: .groupAndCookie
      }
  }
}

extension WeftEvents.ContainmentLevel {
  init(_ level: WeftPlatform.ContainmentLevel) {
    switch level {
    case .cgroup: self = .cgroup
    case .subreaper: self = .subreaper
    case .groupAndCookie: self = .groupAndCookie
    }
  }
}

extension RunOrphans {
  init(_ end: OrphansEnd) {
    self.init(
      leftovers: end.ended.map(LeftoverProcess.init),
      unkillable: end.orphans.map(LeftoverProcess.init))
  }
}

extension LeftoverProcess {
  static func sentence(onUnkillable processes: [LeftoverProcess]) -> String {
    let shown = processes.prefix(10).map { "\($0.process) (\($0.command))" }
      .joined(separator: ", ")
    let more = processes.count > 10 ? " and \(processes.count - 10) more" : ""
    return "could not kill processes of steps: \(shown)\(more)"
  }
}
