package import WeftEvents
package import WeftPlanning
package import WeftPlatform

/// The variables that tell a program which run, step and attempt it belongs to, and by which it is found again.
package enum RunCookie {
  package static let run = "WEFT_RUN_ID"
  package static let step = "WEFT_STEP"
  package static let attempt = "WEFT_ATTEMPT"
  /// The run directory; not set for a run without a journal.
  package static let directory = "WEFT_RUN_DIR"
  /// The derived idempotency key of the step's requests.
  package static let idempotencyKey = "WEFT_IDEMPOTENCY_KEY"
  /// The file in which the program reports its progress.
  package static let progress = "WEFT_PROGRESS"
  /// `PID.START.SESSION.NAMESPACE.COOKIE` of the engine: the start distinguishes its process from a later one
  /// with the same id, the namespace from one in another container, and the cookie is a secret of the engine.
  package static let engine = "WEFT_ENGINE"

  /// The value of ``engine`` for programs that this process starts.
  package static func thisEngine(_ cookie: EngineCookie) -> String {
    "\(ofThisProcess).\(cookie.text)"
  }

  private static let ofThisProcess: String = {
    let process = ThisProcess.identity
    return
      "\(process.id).\(process.startTicks).\(ThisProcess.session).\(ThisProcess.idNamespace)"
  }()

  /// The entries of an environment for these variables.
  static func entries(of environment: EnvironmentBlock) -> [String] {
    [run, engine, step, attempt].compactMap { name in environment[name].map { "\(name)=\($0)" } }
  }

  /// The run and attempt that a process's environment names; `nil` if it belongs to no run, or to one in
  /// another PID namespace, whose engine cannot be checked from here.
  package static func membership(in environment: [UInt8]) -> RunMembership? {
    guard let run = ProcessCookie.value(of: run, in: environment),
      let engine = ProcessCookie.value(of: engine, in: environment)
    else { return nil }
    let parts = engine.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 5, parts[3] == String(ThisProcess.idNamespace), let id = Int32(parts[0]),
      let start = UInt64(parts[1]), let session = Int32(parts[2]),
      let cookie = EngineCookie(String(parts[4]))
    else { return nil }
    return RunMembership(
      run: run, engine: ProcessIdentity(id: id, startTicks: start), engineSession: session,
      cookie: cookie, attempt: attemptName(in: environment))
  }

  private static func attemptName(in environment: [UInt8]) -> AttemptName? {
    guard let step = ProcessCookie.value(of: step, in: environment),
      let number = ProcessCookie.value(of: attempt, in: environment).flatMap({ Int($0) })
    else { return nil }
    return AttemptName(step: step, number: number)
  }
}

extension RunSearch {
  /// Looks at all processes that exist now.
  package init() { self.init(membership: RunCookie.membership) }
}

extension ChildProgram {
  /// Runs a helper program of a step, such as its version command, contained like the step's own programs.
  func run(
    in containment: (any Containment)?, stop: StopSwitch,
    output: @escaping (OutputStream, UnsafeRawBufferPointer) -> Void
  ) throws(SpawnError) -> ProgramEnd {
    var program = self
    let entries = RunCookie.entries(of: environment)
    program.enclosure = try? containment?.enclose(cookie: entries)
    do { return try program.run(stop: stop, output: output) } catch {
      program.enclosure?.abandoned()
      throw error
    }
  }

  /// Runs the program in the same way, and collects its output.
  func runCollecting(
    in containment: (any Containment)?, stop: StopSwitch
  ) throws(SpawnError) -> (end: ProgramEnd, output: [UInt8], errors: [UInt8]) {
    var (output, errors): ([UInt8], [UInt8]) = ([], [])
    let end = try run(in: containment, stop: stop) { stream, bytes in
      if stream == .output { output += bytes } else { errors += bytes }
    }
    return (end, output, errors)
  }
}

/// The orphans of a run: processes that its steps started and that outlive the engines of the run.
///
/// It finds them by the cookies of the recorded engines. `weft reap` terminates them, and so does resume before it
/// starts an engine, since a step must never run twice at the same time.
package struct OrphanedProcesses {
  private let run: RunID
  private let engines: [RecordedEngine]

  /// - Parameter plan: That of the engine which is about to resume the run, and to adopt commands: they are spared.
  package init(of run: RunID, recorded: RunState, adoptedBy plan: Plan? = nil) {
    self.run = run
    let addresses = plan.map(PlanAddresses.init)
    let spared = recorded.inDoubt.compactMap { address -> AttemptName? in
      guard let plan, let index = addresses?.step(at: address), plan.isAdoptable(plan.steps[index]),
        let step = recorded.steps[address], step.job == .local,
        case .started(let attempt) = step.state
      else { return nil }
      return AttemptName(step: address.text, number: attempt)
    }
    engines = recorded.engines.map { engine in
      var engine = engine
      engine.kept.formUnion(spared)
      return engine
    }
  }

  /// The orphans that are alive now, without those that `"leftovers": "keep"` allows to stay.
  package var processes: [ProcessStatus] { processes(in: RunSearch()) }

  /// The orphans that were alive at one look, which may serve many runs.
  package func processes(in search: RunSearch) -> [ProcessStatus] {
    search.processes(of: run.text, startedBy: engines)
  }

  /// Terminates all orphans: TERM, then KILL after a grace period. Blocks until each is dead or cannot be killed.
  ///
  /// - Parameter report: Called once with those that are alive after a second.
  package func end(onDelay report: ([ProcessRecord]) -> Void = { _ in }) -> OrphansEnd {
    OrphanTermination(policy: StopPolicy(), stop: StopSwitch()) { processes }.end(onDelay: report)
  }

  /// The help for processes that could not be killed.
  package static let help = "they may belong to another user, or wait for a device"
}
