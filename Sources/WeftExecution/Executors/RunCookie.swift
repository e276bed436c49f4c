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
  /// `PID.START.SESSION.NAMESPACE` of the engine's process; the start tells it from a later one with its
  /// id, the namespace from one in another container.
  package static let engine = "WEFT_ENGINE"

  package static let thisEngine: String = {
    let process = ThisProcess.identity
    return
      "\(process.id).\(process.startTicks).\(ThisProcess.session).\(ThisProcess.idNamespace)"
  }()

  /// What a process's environment says; `nil` if it is of no run, or of one in another namespace of
  /// process ids: whether that one's engine is alive cannot be told from here.
  package static func membership(in environment: [UInt8]) -> RunMembership? {
    guard let run = ProcessCookie.value(of: run, in: environment),
      let engine = ProcessCookie.value(of: engine, in: environment)
    else { return nil }
    let parts = engine.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[3] == String(ThisProcess.idNamespace), let id = Int32(parts[0]),
      let start = UInt64(parts[1]),
      let session = Int32(parts[2])
    else { return nil }
    return RunMembership(
      run: run, engine: ProcessIdentity(id: id, startTicks: start), engineSession: session)
  }
}
