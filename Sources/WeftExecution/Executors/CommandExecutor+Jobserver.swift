import WeftPlatform

extension CommandExecutor {
  /// Runs the attempt's program with a jobserver, on the calling thread.
  func startWithJobserver(
    _ program: ChildProgram, for attempt: Attempt
  ) throws(AttemptObstacle) -> AttemptEnd {
    var program = program
    let jobserver: StepJobserver
    do { jobserver = try offerJobserver(to: &program, stop: attempt.stop) } catch {
      throw .notStarted(error)
    }
    defer { jobserver.remove() }
    guard let pipe = jobserver.pipe else { return try start(program, for: attempt) }
    attempt.slots.beginLending(to: attempt.instanceNumber, through: pipe)
    defer { attempt.slots.endLending(to: attempt.instanceNumber) }
    return try start(program, for: attempt)
  }

  private func offerJobserver(
    to program: inout ChildProgram, stop: StopSwitch
  ) throws(SpawnError) -> StepJobserver {
    let jobserver: StepJobserver
    if let joined {
      jobserver = StepJobserver(passingOn: joined)
    } else {
      let form = try jobserverForms.form(for: program, in: enclosing, stop: stop)
      do { jobserver = try StepJobserver(form) } catch { throw .resources(error) }
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
