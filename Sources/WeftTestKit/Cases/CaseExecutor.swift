import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftExpressions
import WeftFutures
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Gives attempts the results of their scripts, at virtual times, instead of running anything.
final class CaseExecutor: StepExecutor {
  private struct Running {
    let attempt: Attempt
    let result: ScriptedResult
    let promise: Promise<AttemptEnd, Never>
    /// The end in the agenda; `nil` if the attempt never ends by itself.
    var end: Int?
    var due: Duration?
  }

  private struct State {
    var running: [Int: Running] = [:]
    var next = 0
    /// The signs of services that have not been ready yet, by instance number.
    var signs: [Int: Promise<Bool, Never>] = [:]
    var real: CommandExecutor?
  }

  private let world: CaseWorld
  private let plan: Plan
  private let run: RunID
  private let configuration: EngineConfiguration
  private let resolver: CommandResolver
  private let requests: HTTPExecutor
  private let state = Mutex(State())

  init(_ plan: Plan, _ configuration: EngineConfiguration, in world: CaseWorld) {
    self.world = world
    self.plan = plan
    self.configuration = configuration
    run = configuration.run ?? RunID("")
    resolver = CommandResolver(
      plan: plan, run: run, cookie: configuration.journal.cookie ?? EngineCookie(),
      startDirectory: configuration.startDirectory,
      inheriting: configuration.environment ?? .empty)
    requests = HTTPExecutor(run: run, configuration: configuration, time: world.time)
  }

  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    if attempt.step.kind == .http { return send(attempt) }
    var record = CaseRecord.Attempt(address: attempt.address, number: attempt.number)
    do throws(AttemptStartError) {
      record.command = try command(of: attempt)
    } catch {
      return Future(value: AttemptEnd(error.status))
    }
    _ = world.begin(record)
    guard let result = world.nextResult(of: attempt.address) else {
      return refuse(attempt)
    }
    guard result.isReal else { return play(result, attempt) }
    // Virtual time stands still while a real step runs, and a service runs as long as the others.
    if attempt.resolved.command?.service != nil {
      let failure = StepFailure(
        classes: [.spawn], message: "is a service, which cannot really run in a case",
        help: "give it a scripted result, such as {}")
      return Future(value: AttemptEnd(.failed(failure)))
    }
    return runReally(attempt)
  }

  // MARK: Requests

  private func send(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    guard let result = world.nextResult(of: attempt.address, isSame: attempt.isPollingAgain)
    else { return refuse(attempt) }
    let isHTTP = result.responses != nil || result.isReal || result.isEndless
    return isHTTP ? requests.execute(attempt) : play(result, attempt)
  }

  /// Ends an attempt that has no script. The case fails anyway, so the run goes no further.
  private func refuse(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let isRequest = attempt.step.kind == .http
    let name = quoted(attempt.address.text)
    world.reportUnscripted(
      attempt.address, act(of: attempt),
      help: isRequest ? "write \"steps\": { \(name): { \"http\": { \"status\": 200 } } }" : nil)
    return Future(
      value: AttemptEnd(.failed(StepFailure(classes: [.spawn], message: "has no scripted result")))
    )
  }

  private func act(of attempt: Attempt) -> String {
    switch attempt.step.kind {
    case .http: "send a request"
    case .use: "run the action \"\(attempt.resolved.action.call?.name.text ?? "")\""
    default:
      switch attempt.resolved.command.map({ text(of: $0, attempt) }) {
      case .script(let script)?: "run \(quoted(script))"
      case .arguments(let arguments)?: "run \(quoted(arguments.joined(separator: " ")))"
      case nil: "run something"
      }
    }
  }

  // MARK: Commands

  private func command(
    of attempt: Attempt
  ) throws(AttemptStartError) -> CaseRecord.ResolvedCommand? {
    guard let command = attempt.resolved.command else { return nil }
    let program: ChildProgram
    do throws(EnvironmentError) { program = try resolver.program(for: attempt) } catch {
      throw .environment(error)
    }
    let stdin: CaseRecord.Input
    switch command.stdin {
    case nil: stdin = .none
    case .text(let text): stdin = .text(text)
    case .file(let path): stdin = .file(path)
    case .log(let need): stdin = .text(try log(need, for: attempt))
    }
    return CaseRecord.ResolvedCommand(
      text: text(of: command, attempt), environment: program.environment,
      directory: program.directory, stdin: stdin)
  }

  /// The log of another step, as the step reads it.
  private func log(_ need: Need, for attempt: Attempt) throws(AttemptStartError) -> String {
    do throws(AttemptStartError) {
      let file = try attempt.inputLog(of: need, in: plan)
      let size = (try? file.byteCount()).map { Int(clamping: $0) } ?? 0
      let bytes = try? file.readToEnd(limit: size, stop: StopSwitch(), until: .seconds(1 << 40))
      return String(decoding: bytes ?? [], as: UTF8.self)
    } catch {
      // The journal of a case has no logs, so an engine that resumes the run has none of its predecessors.
      guard case .log(_, .unwritten) = error, let source = plan.logs.source(ofStep: attempt.index),
        let log = world.log(ofStep: plan.steps[source].address, around: attempt.address)
      else { throw error }
      return log
    }
  }

  /// The command with values in place of expressions; a script as the shell understands it.
  private func text(of command: Command, _ attempt: Attempt) -> StepExpectation.RunText {
    switch command.invocation {
    case .program(let arguments): return .arguments(arguments)
    case .script, .file:
      guard
        let text = plan.values.texts(ofStep: attempt.index).first(where: { $0.site == .script }),
        let planned = plan.values.script(ofStep: attempt.index)
      else { return .script(command.invocation.script ?? "") }
      let evaluated = attempt.resolved.evaluatedTexts
      let values = planned.variables.map { variable in
        let own = evaluated.filter { variable.isNamed($0.name) }
        return (variable.expression.text, own.map(\.value).joined(separator: " "))
      }
      let texts = Dictionary(values) { $1 }
      return .script(
        text.template.segments.map { segment in
          switch segment.content {
          case .text(let text): text
          case .expression(let expression): texts[expression.text] ?? ""
          }
        }.joined())
    }
  }

  // MARK: Services

  func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    let sign = Promise<Bool, Never>(ifDropped: .success(false))
    state.withLock { $0.signs[attempt.instanceNumber] = sign }
    stop.whenRequested { sign.succeed(false) }
    return sign.future
  }

  private func takeSign(of attempt: Attempt) -> Promise<Bool, Never>? {
    state.withLock { $0.signs.removeValue(forKey: attempt.instanceNumber) }
  }

  /// The time after which a service is ready; `nil` for one that never is, and for other steps.
  ///
  /// If the result does not give one, a service that succeeds is ready after its duration, and then runs until it is
  /// terminated.
  private func readiness(_ result: ScriptedResult, _ attempt: Attempt) -> Duration? {
    guard let command = attempt.resolved.command, command.service != nil else { return nil }
    if let time = result.readyAfter { return time }
    guard !result.isEndless, case .ended(.code(let code)) = result.status,
      command.successCodes.contains(code)
    else { return nil }
    return result.duration ?? .zero
  }

  // MARK: Scripted ends

  private func play(
    _ result: ScriptedResult, _ attempt: Attempt
  ) -> Future<AttemptEnd, Never> {
    write(result, of: attempt)
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.stopped(nil))))
    let (length, status) = course(of: result, attempt)
    let number = state.withLock { state in
      state.running[state.next] = Running(attempt: attempt, result: result, promise: promise)
      state.next += 1
      return state.next - 1
    }
    if let length { schedule(number, at: world.time.now + length, status) }
    if let time = readiness(result, attempt), let sign = takeSign(of: attempt) {
      _ = world.agenda.add(at: world.time.now + time) { sign.succeed(true) }
    }
    for level in [StopLevel.graceful, .now] {
      attempt.stop.whenRequested(level) { [weak self] in self?.stop(number, level) }
    }
    return promise.future
  }

  /// The time that an attempt takes, and its end; the time is `nil` if it never ends by itself.
  private func course(
    of result: ScriptedResult, _ attempt: Attempt
  ) -> (length: Duration?, status: AttemptEnd.Status) {
    if readiness(result, attempt) != nil {
      return (result.readyAfter == nil ? nil : result.duration, result.status)
    }
    let length = result.isEndless ? nil : result.duration ?? .zero
    let limits = [attempt.resolved.timeout, attempt.resolved.command?.stallTimeout]
    guard let limit = limits.compactMap(\.self).min(), length.map({ limit <= $0 }) ?? true else {
      return (length, result.status)
    }
    // Equal limits: the attempt's own counts.
    let isTimeout = limit == attempt.resolved.timeout
    guard attempt.resolved.command != nil else { return (limit, .timedOut(after: limit, nil)) }
    let (delay, exit) = reaction(of: attempt, result)
    return (
      limit + delay, isTimeout ? .timedOut(after: limit, exit) : .stalled(after: limit, exit)
    )
  }

  /// The time from a request to stop to the end of a program, and its exit.
  private func reaction(of attempt: Attempt, _ result: ScriptedResult) -> (Duration, ProgramExit) {
    let stop = attempt.resolved.command?.stop
    let grace = stop?.grace ?? configuration.stopPolicy.grace
    return result.stopDuration > grace
      ? (grace, .signal("KILL")) : (result.stopDuration, .signal(stop?.signal ?? "TERM"))
  }

  private func schedule(_ number: Int, at due: Duration, _ status: AttemptEnd.Status) {
    let end = world.agenda.add(at: due) { [weak self] in self?.end(number, status) }
    state.withLock { state in
      state.running[number]?.end.map(world.agenda.cancel)
      state.running[number]?.end = end
      state.running[number]?.due = due
    }
  }

  private func stop(_ number: Int, _ level: StopLevel) {
    guard let running = state.withLock({ $0.running[number] }) else { return }
    let now = world.time.now
    let (delay, exit) = reaction(of: running.attempt, running.result)
    let isProgram = running.attempt.resolved.command != nil
    let due = level == .now ? now : now + delay
    // It may end by itself before it reacts.
    if level == .graceful, let own = running.due, own <= due, own > now { return }
    let last: ProgramExit = level == .now ? .signal("KILL") : exit
    schedule(number, at: due, .stopped(isProgram ? last : nil))
  }

  private func end(_ number: Int, _ status: AttemptEnd.Status) {
    guard let running = state.withLock({ $0.running.removeValue(forKey: number) }) else { return }
    running.promise.succeed(AttemptEnd(status))
  }

  private func write(_ result: ScriptedResult, of attempt: Attempt) {
    for (text, stream) in [(result.stdout, StepOutput.Stream.stdout), (result.stderr, .stderr)]
    where !text.isEmpty {
      var text = text
      text.withUTF8 { attempt.output.write(UnsafeRawBufferPointer($0), to: stream) }
    }
    if plan.logs.isRead(ofStep: attempt.index) {
      world.keepLog(result.stdout + result.stderr, of: attempt.address)
    }
    guard let outputs = result.outputs, let path = attempt.outputFile else { return }
    Descriptor.remove(path)
    try? Descriptor.creating(path, .onlyNew).writeAll(JSONValue.object(outputs).description + "\n")
  }

  // MARK: Real attempts

  private func runReally(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let executor: CommandExecutor
    do { executor = try realExecutor() } catch {
      return Future(
        value: AttemptEnd(
          .failed(StepFailure(classes: [.spawn], message: "did not start: \(error.message)"))))
    }
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.stopped(nil))))
    world.beginReal()
    executor.execute(attempt).whenSettled { [world] end in
      world.endReal { promise.settle(end) }
    }
    return promise.future
  }

  private func realExecutor() throws(ContainmentError) -> CommandExecutor {
    if let real = state.withLock({ $0.real }) { return real }
    let timers = Timers()
    let hasTimers = (try? timers.prepare()) != nil
    var configuration = configuration
    configuration.environment = configuration.environment.flatMap(CaseExecutor.real)
    let real = try CommandExecutor(
      plan: plan, run: run, configuration: configuration, threads: ThreadPool(),
      time: hasTimers ? timers : nil)
    state.withLock { $0.real = real }
    return real
  }

  /// The environment of real attempts: that of the case, and what no program is found without.
  private static func real(_ own: EnvironmentBlock) -> EnvironmentBlock? {
    let machine = EnvironmentBlock.inherited().filtered { $0 == "PATH" || $0 == "HOME" }
    return try? machine.setting(own.names.map { ($0, own[$0]) })
  }

  func finish(stop: StopSwitch) -> Future<RunOrphans, Never> {
    guard let real = state.withLock({ $0.real }) else { return Future(value: RunOrphans()) }
    let promise = Promise<RunOrphans, Never>(ifDropped: .success(RunOrphans()))
    world.beginReal()
    real.finish(stop: stop).whenSettled { [world] end in world.endReal { promise.settle(end) } }
    return promise.future
  }
}

extension ScriptedResult {
  /// The end of an attempt that takes its time.
  fileprivate var status: AttemptEnd.Status {
    if let returns { return .returned(returns) }
    if let failure {
      return .failed(
        StepFailure(classes: failure.withWider, message: "failed with class \(failure.name)"))
    }
    return .ended(signal.map { .signal($0) } ?? .code(exit ?? 0))
  }
}

extension ErrorClass {
  /// The class and, after it, the wider ones that it is part of.
  fileprivate var withWider: [ErrorClass] {
    if name.hasPrefix("http:"), let status = Int(name.dropFirst(5)) {
      return ErrorClass.classes(ofStatus: status)
    }
    guard let colon = name.firstIndex(of: ":"), let wider = ErrorClass(String(name[..<colon]))
    else { return [self] }
    return [self, wider]
  }
}
