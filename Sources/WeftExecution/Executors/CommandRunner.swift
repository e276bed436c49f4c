import WeftDefinition
public import WeftEvents
import WeftFutures
public import WeftPlanning
import WeftPlatform

/// Runs the commands of steps in place of processes of this machine, such as on another host, in a container, or as a
/// test wants it.
///
/// Called once for each attempt, in a task on a thread of the engine, which it may block. The task is cancelled at the
/// step's `timeout`, and when the run is cancelled; after the grace period the step ends without it. A thrown error
/// fails the step with the class `spawn`: the command could not be run. It is retried by policies that name that class.
/// An exit code other than 0 is a result. `cache`, `tty`, `jobserver`, `stallTimeout`, `stop` and `leftovers` have no effect.
public typealias CommandRunner = @Sendable (CommandCall) async throws -> ProgramExit

/// One attempt of a step with `run`, its expressions evaluated.
public struct CommandCall: Sendable {
  /// The bytes that a command reads from its standard input.
  public enum Input: Sendable, Hashable {
    /// None: the end of the file comes at once.
    case none
    /// These bytes.
    case bytes([UInt8])
    /// The content of a file of this machine.
    case file(String)
  }

  /// The run's ID.
  public let run: RunID
  /// The address of the step, with its key for an element.
  public let step: StepAddress
  /// Counts from 1.
  public let attempt: Int
  /// The program and its arguments; for a script the shell, its options and the text.
  public let arguments: [String]
  /// All variables, including those that Weft sets: `WEFT_OUTPUT` names a file of this machine, if the step declares
  /// outputs that are written there.
  public let environment: [String: String]
  /// The working directory; `nil` for the current directory of the process.
  public let workingDirectory: String?
  /// The standard input.
  public let input: Input
  /// The time limit of the attempt, which the engine keeps.
  public let timeout: Duration?
  private let reporter: AttemptReporter

  fileprivate init(
    _ attempt: Attempt, _ program: ChildProgram, in plan: Plan, run: RunID,
    _ reporter: AttemptReporter
  ) throws(AttemptStartError) {
    self.run = run
    step = attempt.address
    self.attempt = attempt.number
    arguments = program.arguments
    environment = program.environment.variables
    workingDirectory = program.directory
    timeout = program.timeout
    self.reporter = reporter
    input =
      switch attempt.command.stdin {
      case nil: .none
      case .text(let text): .bytes(Array(text.utf8))
      case .file(let path): .file(path.resolved(from: program.directory))
      case .log(let need): .bytes(try attempt.inputLog(of: need, in: plan).wholeContent(as: need))
      }
  }

  /// Writes output of the command to the step's log, secrets masked.
  ///
  /// Callable on any thread. Ignored after the attempt has ended.
  ///
  /// - Parameter text: Whole lines, or parts of them.
  public func write(_ text: String, to stream: StepOutput.Stream = .stdout) {
    reporter.log.write(text, to: stream)
  }

  /// Writes output of any bytes, cut anywhere.
  public func write(_ bytes: [UInt8], to stream: StepOutput.Stream = .stdout) {
    bytes.withUnsafeBytes { reporter.log.write($0, to: stream) }
  }

  /// Reports how far the attempt has come, for displays and as an event, secrets masked.
  ///
  /// Callable on any thread, as often as is convenient: at most ten reports a second become events, and always the
  /// last one. Ignored after the attempt has ended.
  public func report(_ progress: StepProgress) { reporter.progress.report(progress) }
}

/// Runs commands by a ``CommandRunner``.
final class RunnerExecutor: StepExecutor {
  private let runner: CommandRunner
  private let run: RunID
  private let plan: Plan
  private let resolver: CommandResolver
  private let starts: StartQueue
  private let time: any TimeSource
  private let grace: Duration

  init(
    _ runner: @escaping CommandRunner, plan: Plan, run: RunID, configuration: EngineConfiguration,
    time: any TimeSource
  ) {
    self.runner = runner
    self.run = run
    self.time = time
    self.plan = plan
    resolver = CommandResolver(
      plan: plan, run: run, cookie: configuration.journal.cookie ?? EngineCookie(),
      configuration: configuration)
    grace = configuration.stopPolicy.grace
    starts = StartQueue(configuration.actions.threads, time: time)
  }

  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let reporter = AttemptReporter(attempt, time)
    let call: CommandCall
    do throws(AttemptStartError) {
      call = try CommandCall(attempt, try program(for: attempt), in: plan, run: run, reporter)
    } catch {
      return Future(value: AttemptEnd(error.status))
    }
    let task = ActionRun(attempt, reporter, time: time, grace: grace) { [runner] in
      do {
        return .ended(try await runner(call))
      } catch {
        return .failed(.notRun("\(error)"))
      }
    }
    return starts.submit(task)
  }

  private func program(for attempt: Attempt) throws(AttemptStartError) -> ChildProgram {
    do { return try resolver.program(for: attempt) } catch { throw .environment(error) }
  }
}

extension StepFailure {
  fileprivate static func notRun(_ reason: String) -> StepFailure {
    StepFailure(classes: [.spawn], message: "did not start: \(shortened(reason))")
  }
}

extension Descriptor {
  /// The content of a copied log.
  fileprivate func wholeContent(as source: Need) throws(AttemptStartError) -> [UInt8] {
    do throws(SystemError) {
      var bytes: [UInt8] = []
      while true {
        let piece = try piece(at: bytes.count, atMost: 1 << 20)
        if piece.isEmpty { return bytes }
        bytes += piece
      }
    } catch {
      throw .log(source.name, .unwritten(.other(error)))
    }
  }
}
