import Synchronization
public import Weft
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A run of the real engine whose commands a test ends by hand, in virtual time.
///
/// ```swift
/// let again = RetryPolicy(max: 1, delay: .seconds(3600))
/// let workflow = Workflow(steps: [
///   Step("build", run: ["make"]).retry(again), Step("test", run: ["make", "test"]),
/// ])
/// let run = try TestRun(workflow)
/// #expect(run.runningSteps == ["build"])
/// run.exit("build", code: 2)
/// run.clock.advance(by: .seconds(3600))
/// run.exit("build")
/// run.exit("test")
/// #expect(run.report.succeeded)
/// ```
///
/// Nothing happens between two calls: each returns when everything that follows from it has happened. No program is
/// started. Requests are sent by the given transport, registered actions run for real, on threads of their own.
public final class TestRun: Sendable {
  /// The clock of the run: its backoff, time limits and waits.
  public let clock: TestClock
  /// The run; for events as they happen, answers, and its cancellation.
  public let run: Run
  private let commands: ScriptedExecutor
  private let subscription: EventSubscription
  private let taken = Mutex<[RunEvent]>([])

  /// Checks a workflow and starts it.
  ///
  /// - Parameters:
  ///   - inputs: Values by name.
  ///   - arguments: The value of `run.args`.
  ///   - secrets: Values of secrets, whose sources are not read, by name.
  ///   - environment: The whole environment of the engine; nothing is inherited.
  ///   - options: As for an `Engine`; at most eight steps run at once by default.
  ///   - transport: Sends the requests of `http` steps; without one, they fail.
  ///   - seed: Determines random delays.
  /// - Throws: `WorkflowError`; nothing has been started then.
  public init(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:], arguments: [String] = [],
    secrets: [String: String] = [:], environment: [String: String] = [:],
    options: Engine.Options = Engine.Options(),
    actions: [Action] = [], transport: (any Transport)? = nil, clock: TestClock = TestClock(),
    seed: UInt64 = 0
  ) throws(WorkflowError) {
    self.clock = clock
    var options = options
    options.maxParallel = options.maxParallel ?? workflow.maxParallel ?? 8
    let engine = Engine(
      options: options, actions: actions,
      transport: transport ?? StubTransport { _ in .failure(.other("the test has no transport")) })
    let commands = ScriptedExecutor()
    self.commands = commands
    var subscription: EventSubscription?
    let plan = try engine.plan(workflow)
    let wallClock: @Sendable () -> WallTime = { [time = clock.time] in
      TestRun.start.advanced(by: time.now)
    }
    let world = SimulatedWorld(
      time: clock.time, wallClock: wallClock,
      environment: (try? EnvironmentBlock.empty.setting(environment.map { ($0.key, $0.value) }))
        ?? .empty,
      secrets: TestRun.secrets(secrets, of: plan), seed: seed
    ) { _, configuration in
      StepExecutors(
        commands: commands, run: configuration.run ?? RunID(""), configuration: configuration,
        time: clock.time)
    }
    run = try engine.start(
      plan, inputs: inputs, arguments: arguments, in: world, approver: PatientApprover()
    ) { run in
      subscription = run.subscribe()
    }
    guard let subscription else { preconditionFailure("the run began without its subscriber") }
    self.subscription = subscription
  }

  /// 2026-01-01T00:00:00Z
  private static let start = WallTime(nanoseconds: 1_767_225_600_000_000_000)

  private static func secrets(_ values: [String: String], of plan: Plan) -> RunSecrets {
    var secrets: [RunSecrets.Key: Secret] = [:]
    for used in plan.usedSecrets {
      guard let value = values[used.declaration.name.text],
        let secret = try? Secret(Array(value.utf8))
      else { continue }
      secrets[RunSecrets.Key(used.declaration.name, inFile: used.file)] = secret
    }
    return RunSecrets(byFile: secrets)
  }

  // MARK: Commands

  /// The addresses of the commands that run now, in file order.
  public var runningSteps: [String] { commands.runningSteps }

  /// The program and its arguments, or the text of a script alone; `nil` if the step does not run.
  public func command(of step: String) -> [String]? {
    let attempt = commands.attempts.first { $0.address.text == step }
    guard let command = attempt?.resolved.command else { return nil }
    switch command.invocation {
    case .program(let arguments): return arguments
    case .script, .file: return [command.invocation.script ?? ""]
    }
  }

  /// Whether a running command has been asked to stop.
  public func isStopping(_ step: String) -> Bool { commands.isStopping(step) }

  /// Writes output of a running command: whole lines, or parts of them.
  ///
  /// - Precondition: The step runs.
  public func write(
    _ text: String, from step: String, to stream: StepOutput.Stream = .stdout
  ) {
    commands.write(text, from: step, to: stream)
  }

  /// Ends a running command with an exit code.
  ///
  /// - Precondition: The step runs.
  public func exit(_ step: String, code: Int = 0) {
    commands.end(step, commands.isStopping(step) ? .stopped(.code(code)) : .ended(.code(code)))
  }

  /// Ends a running command by a signal, named without `SIG`.
  ///
  /// - Precondition: The step runs.
  public func kill(_ step: String, signal: String = "KILL") {
    commands.end(
      step, commands.isStopping(step) ? .stopped(.signal(signal)) : .ended(.signal(signal)))
  }

  // MARK: Approvals

  /// Approves a step with `approve`, even one that is not waiting yet.
  ///
  /// - Precondition: There is such a step.
  public func approve(_ step: String) { run.approve(existing(step)) }

  /// Rejects a step with `approve`, which fails with the class `rejected`.
  ///
  /// - Precondition: There is such a step.
  public func reject(_ step: String) { run.reject(existing(step)) }

  private func existing(_ step: String) -> StepAddress {
    let address = StepAddress(step)
    precondition(
      report.steps.contains { $0.address == address }, "there is no step \"\(step)\"")
    return address
  }

  // MARK: Results

  /// All events so far.
  public var events: RecordedEvents {
    taken.withLock { taken in
      taken += subscription.takeAll() ?? []
      return RecordedEvents(taken)
    }
  }

  /// The state of the run so far.
  public var report: RunReport { run.progress }
}

/// Never answers, so that only the test does.
private struct PatientApprover: Approver {
  func ask(
    _ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?
  ) -> Future<ApprovalAnswer, Never> {
    let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
    stop.whenRequested { promise.succeed(.unanswered("stopped")) }
    return promise.future
  }
}
