import Synchronization
public import WeftDefinition
public import WeftEvents
public import WeftJSON
public import WeftPlanning
import WeftPlatform

/// An action implemented by the embedding program: `{ "use": "measure" }`.
///
/// ```swift
/// let measure = Action("measure") { context in
///   guard case .string(let path)? = context["path"] else {
///     throw ActionError("there is no path", help: "name a file: \"with\": { \"path\": … }")
///   }
///   context.log("looking at \(path)")
///   return ["path": .string(path), "width": 640]
/// }
/// let engine = Engine(actions: [measure])
/// ```
///
/// The returned value, up to a mebibyte as JSON, is the step's `json` in expressions:
/// `${{ steps.size.json.width }}`; a larger one fails the step with the class `output`. A thrown error fails
/// the step with the class `action` and the error's description.
///
/// Each attempt is a task on a thread of its own. It may block, except while waiting for one of its own child
/// tasks, which take turns on the same thread. To run work in parallel within one action, use actors or
/// `Task.detached`.
///
/// Input and output may have types: the step's `with` is decoded, and the result encoded.
///
/// ```swift
/// struct Photo: Decodable { let path: String }
/// struct Size: Encodable { let width, height: Int }
///
/// let size = Action("size") { (photo: Photo, context) async throws -> Size in
///   guard photo.path.hasSuffix(".png") else { throw ActionError("only PNG is supported") }
///   return Size(width: 640, height: 480)
/// }
/// ```
///
/// When the attempt's `timeout` has passed or the run is cancelled, the task is cancelled. It then has the
/// engine's grace period to end (its cancellation handlers must not block); after that the step ends without
/// it, as timed out or cancelled, and a later result of the action is ignored. An action ends once, by
/// returning or throwing, as every `async` function does: there is no completion handler that could be called
/// twice.
public struct Action: Sendable {
  /// The name that steps give in `use`.
  public let name: ActionName
  let run: @Sendable (ActionContext) async throws -> JSONValue

  /// - Parameters:
  ///   - name: The name that steps give in `use`.
  ///   - run: Called once for each attempt; several calls may run concurrently.
  public init(
    _ name: ActionName, run: @escaping @Sendable (ActionContext) async throws -> JSONValue
  ) {
    self.name = name
    self.run = run
  }
}

extension Action {
  /// Creates an action with typed input and output.
  ///
  /// The step's `with` is decoded as `Input`; if that fails, the step fails with the member and what was found there,
  /// and the action is not called. Members that `Input` does not decode are ignored. The result is the step's `json`;
  /// one that JSON cannot hold, such as an infinite number, fails the step.
  ///
  /// - Parameters:
  ///   - name: The name that steps give in `use`.
  ///   - run: Called once for each attempt; several calls may run concurrently.
  public init<Input: Decodable & SendableMetatype, Output: Encodable & SendableMetatype>(
    _ name: ActionName,
    run: @escaping @Sendable (Input, ActionContext) async throws -> Output
  ) {
    self.init(name) { context in
      let input: Input
      do throws(DecodingError) {
        input = try JSONValue.object(context.parameters).decoded()
      } catch {
        throw ActionError(
          "\"\(name)\" cannot read its parameters: \(error.sentence)",
          help: "change the step's \"with\"")
      }
      let output = try await run(input, context)
      do throws(EncodingError) {
        return try JSONValue(encoding: output)
      } catch {
        throw ActionError("\"\(name)\" returned what JSON cannot hold: \(error.sentence)")
      }
    }
  }
}

/// The failure of an action, worded for the users of the workflow.
///
/// Any error may be thrown by an action; this one is reported as it is, with its help.
public struct ActionError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The failure as a sentence without a full stop.
  public var message: String
  /// The suggested remedy; `nil` if there is none to name.
  public var help: String?

  /// Creates a failure.
  public init(_ message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  /// The message.
  public var description: String { message }
}

/// One attempt of a step, as seen by its action.
public struct ActionContext: Sendable {
  /// The run's ID.
  public let run: RunID
  /// The address of the step, with its key for an element.
  public let step: StepAddress
  /// Counts from 1.
  public let attempt: Int
  /// The step's `with`, its expressions evaluated. Secrets are included unmasked; they are masked wherever the
  /// run shows output or results of the action.
  public let parameters: JSONObject
  private let reporter: AttemptReporter
  private let time: any TimeSource

  init(
    _ attempt: Attempt, _ call: ActionCall, run: RunID, _ reporter: AttemptReporter,
    _ time: any TimeSource
  ) {
    self.run = run
    self.time = time
    step = attempt.address
    self.attempt = attempt.number
    parameters = call.values
    self.reporter = reporter
  }

  /// The parameter of that name; `nil` if it is not given.
  public subscript(_ name: String) -> JSONValue? { parameters[name] }

  /// Writes a line to the step's log and reports it as an event, secrets masked.
  ///
  /// Callable on any thread; lines from several threads are written whole, one after another. Ignored after the
  /// attempt has ended.
  ///
  /// - Parameter line: Without a trailing newline; a newline inside it starts a further line.
  public func log(_ line: String) { reporter.log.write(line + "\n", to: .stdout) }

  /// Reports how far the attempt has come, for displays and as an event, secrets masked.
  ///
  /// Callable on any thread, as often as is convenient: at most ten reports a second become events, and always the
  /// last one. Ignored after the attempt has ended.
  public func report(_ progress: StepProgress) { reporter.progress.report(progress) }

  /// Suspends the task by the clock of the engine, so that a test of the workflow takes no time.
  ///
  /// - Throws: When the task is cancelled.
  public func sleep(for duration: Duration) async throws(CancellationError) {
    try await time.sleep(for: duration)
  }
}

extension ActionCall {
  /// The parameters by name; the last of several with one name counts.
  fileprivate var values: JSONObject {
    var values = JSONObject()
    for parameter in parameters {
      switch parameter.value {
      case .value(let value): values[parameter.name] = value
      case .text(let text): values[parameter.name] = .string(text)
      }
    }
    return values
  }
}

/// The output and the progress of an attempt that is a task, until the attempt has ended.
struct AttemptReporter: Sendable {
  let log: LogWriter
  let progress: ProgressReporter

  init(_ attempt: Attempt, _ time: any TimeSource) {
    log = LogWriter(attempt.output, time)
    progress = ProgressReporter(of: attempt, time)
  }

  /// Ignores all further reports; waits for a line that is being written.
  func close() {
    log.close()
    progress.close()
  }
}

/// Writes the output of an attempt that is a task until the attempt has ended.
final class LogWriter: Sendable {
  private let output: StepOutputSink
  private let time: any TimeSource
  /// Locked while a line is written, so that one thread writes at a time.
  private let isDown = Mutex(false)

  init(_ output: StepOutputSink, _ time: any TimeSource) {
    self.output = output
    self.time = time
  }

  func write(_ text: String, to stream: StepOutput.Stream) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0), to: stream) }
  }

  func write(_ bytes: UnsafeRawBufferPointer, to stream: StepOutput.Stream) {
    isDown.withLock { isDown in
      if !isDown { output.write(bytes, to: stream, at: time.now) }
    }
  }

  /// Stops all further writing; waits for a line that is being written.
  func close() { isDown.withLock { $0 = true } }
}
