package import WeftDefinition
import WeftEvents
package import WeftPlanning
package import WeftPlatform

/// The reason why the program of an attempt was not started.
package enum AttemptStartError: Error {
  case environment(EnvironmentError)
  case input(path: String, SystemError)
  case log(String, StepLogs.NoCopyError)
  case notStarted(SpawnError)
  /// A time limit passed while the step's input was opened.
  case timedOut(after: Duration)
  case stalled(after: Duration)

  /// The end of the attempt.
  package var status: AttemptEnd.Status {
    switch self {
    case .notStarted(.stopped): .stopped(nil)
    case .notStarted(let reason): .failed(StepFailure(reason))
    case .timedOut(let limit): .timedOut(after: limit, nil)
    case .stalled(let limit): .stalled(after: limit, nil)
    case .environment(let problem):
      .failed(
        StepFailure(
          classes: [.spawn], message: "did not start: \(problem.message)", help: problem.help))
    case .input(let path, let error):
      .failed(
        StepFailure(
          classes: [.spawn],
          message: "did not start: its standard input \"\(path)\" cannot be read: \(error)",
          help: error == .notFound
            ? "create the file in an earlier step that this one needs, or correct its name" : nil))
    case .log(let step, .cut(let limit)):
      .failed(
        StepFailure(
          classes: [.limit],
          message: "did not start: the log of step \"\(step)\" holds only the first \(limit)",
          help: "raise the \"logLimit\" of \"\(step)\", or let it write to a file"))
    case .log(let step, .unwritten(let error)):
      .failed(
        StepFailure(
          classes: [.spawn],
          message: "did not start: the log of step \"\(step)\" cannot be read: \(error.message)"))
    case .log(let step, .shortened(let found, let recorded)):
      .failed(
        StepFailure(
          classes: [.spawn],
          message:
            "did not start: the log of step \"\(step)\" is incomplete: \(recorded - found) of its "
            + "\(recorded) bytes are missing",
          help:
            "something has changed the file since the step ended; run it again with --rerun \(step)"
        ))
    }
  }
}

extension Attempt {
  /// A copy of the log that its command reads, positioned at its beginning.
  package func inputLog(of need: Need, in plan: Plan) throws(AttemptStartError) -> Descriptor {
    guard let source = plan.logs.source(ofStep: task.index) else {
      preconditionFailure("the planner let pass the log of \"\(need.name)\", which is no step")
    }
    do {
      return try logs.copy(of: instance.instanceNumber(ofStep: source))
    } catch {
      throw .log(need.name, error)
    }
  }
}

extension StepFailure {
  init(_ reason: SpawnError) {
    self.init(
      classes: reason.error == .argumentsTooBig ? [.limit] : [.spawn],
      message: "did not start: \(reason.message)", help: reason.help)
  }

  static let threadEnded = StepFailure(
    classes: [.spawn], message: "did not start: its thread ended too early")
}

extension StepFailure {
  /// Other code of this process has reaped the program and its exit status.
  static let lost = StepFailure(
    classes: [.lost],
    message: "its exit status is unknown: other code in this process collected it",
    help:
      "a program that runs Weft must not ignore SIGCHLD, and must wait for its own children by "
      + "id, not with waitpid(-1)")
}

extension AttemptEnd {
  /// The end of an attempt that was given up before its program started.
  init(_ refusal: StartQueue.Rejection) {
    switch refusal {
    case .stopped: self.init(.stopped(nil))
    case .shortage(let shortage): self.init(.failed(shortage.failure))
    }
  }

  /// - Parameters:
  ///   - program: The program, with the time limits under which it ran.
  ///   - usage: That of the step's program, if it is known.
  init(_ end: ProgramEnd, of program: ChildProgram, usage: WeftEvents.ResourceUsage? = nil) {
    let exit = ProgramExit(end.status)
    let status: Status =
      end.stopped.map { Status(stoppedBy: $0, exit, of: program) }
      ?? exit.map { .ended($0) } ?? .failed(.lost)
    self.init(
      status,
      usage: exit == nil ? nil : usage,
      leftovers: end.leftovers.map(LeftoverProcess.init),
      unkillable: end.orphans.map(LeftoverProcess.init))
  }
}

extension AttemptEnd.Status {
  /// The end of an attempt whose program was stopped.
  init(stoppedBy cause: StopCause, _ exit: ProgramExit?, of program: ChildProgram) {
    switch cause {
    case .cancelled: self = .stopped(exit)
    case .timeout: self = .timedOut(after: program.timeout ?? .zero, exit)
    case .stall: self = .stalled(after: program.stallTimeout ?? .zero, exit)
    }
  }
}

extension ProgramExit {
  /// `nil` if the exit status was lost.
  init?(_ status: ProgramEnd.Status) {
    switch status {
    case .exited(let code): self = .code(Int(code))
    case .killed(let signal): self = .signal(signal.name)
    case .lost: return nil
    }
  }
}

extension LeftoverProcess {
  init(_ process: ProcessRecord) { self.init(process: process.id, command: process.command) }
}

extension ResourceUsage {
  init(_ usage: ProgramUsage, of resources: Command.Resources?) {
    self.init(
      userTime: usage.user, systemTime: usage.system, minorFaults: usage.minorFaults,
      majorFaults: usage.majorFaults, voluntarySwitches: usage.voluntarySwitches,
      involuntarySwitches: usage.involuntarySwitches,
      peakMemoryBytes: usage.peakBeyondThisProcess,
      requestedProcessors: resources?.cpus, requestedMemoryBytes: resources?.memory?.bytes)
  }
}
