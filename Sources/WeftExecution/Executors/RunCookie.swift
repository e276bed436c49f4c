package import WeftPlatform

/// The variables by which a program can tell where it runs, and by which it is found again.
package enum RunCookie {
  package static let run = "WEFT_RUN_ID"
  package static let step = "WEFT_STEP"
  package static let attempt = "WEFT_ATTEMPT"
  /// The directory of the run's record; not set of a run without one.
  package static let directory = "WEFT_RUN_DIR"
  /// What a request of the step has as its derived key.
  package static let idempotencyKey = "WEFT_IDEMPOTENCY_KEY"
  /// `PID.START.SESSION.NAMESPACE.COOKIE` of the engine: the start tells its process from a later one with its
  /// id, the namespace from one in another container, and the cookie is known to nobody else.
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

  /// The entries that an environment has of these.
  static func entries(of environment: EnvironmentBlock) -> [String] {
    [run, engine, step, attempt].compactMap { name in environment[name].map { "\(name)=\($0)" } }
  }

  /// What a process's environment says; `nil` if it is of no run, or of one in another namespace of
  /// process ids: whether that one's engine is alive cannot be told from here.
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

extension ChildProgram {
  /// Runs a program that tells something of a step, such as a version, held as the step's own programs are.
  func run(
    in containment: (any Containment)?, stop: StopSwitch,
    output: @escaping (OutputStream, UnsafeRawBufferPointer) -> Void
  ) throws(ProgramNotStarted) -> ProgramEnd {
    var program = self
    let entries = RunCookie.entries(of: environment)
    program.enclosure = try? containment?.enclose(cookie: entries)
    do { return try program.run(stop: stop, output: output) } catch {
      program.enclosure?.abandoned()
      throw error
    }
  }
}
