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
///   guard case .string(let path)? = context["path"] else { throw MissingParameter(name: "path") }
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
/// When the attempt's `timeout` has passed or the run is cancelled, the task is cancelled. It then has the
/// engine's grace period to end (its cancellation handlers must not block); after that the step ends without
/// it, as timed out or cancelled, and a later result of the action is ignored. An action ends once, by
/// returning or throwing, as every `async` function does: there is no completion handler that could be called
/// twice.
public struct Action: Sendable {
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

/// One attempt of a step, as seen by its action.
public struct ActionContext: Sendable {
  public let run: RunID
  /// The address of the step, with its key for an element.
  public let step: StepAddress
  /// Counts from 1.
  public let attempt: Int
  /// The step's `with`, its expressions evaluated. Secrets are included unmasked; they are masked wherever the
  /// run shows output or results of the action.
  public let parameters: JSONObject
  private let pen: LogWriter

  init(_ attempt: Attempt, _ call: ActionCall, run: RunID, _ pen: LogWriter) {
    self.run = run
    step = attempt.address
    self.attempt = attempt.number
    parameters = call.values
    self.pen = pen
  }

  /// The parameter of that name; `nil` if it is not given.
  public subscript(_ name: String) -> JSONValue? { parameters[name] }

  /// Writes a line to the step's log and reports it as an event, secrets masked.
  ///
  /// Callable on any thread; lines from several threads are written whole, one after another. Ignored after the
  /// attempt has ended.
  ///
  /// - Parameter line: Without a trailing newline; a newline inside it starts a further line.
  public func log(_ line: String) { pen.write(line) }
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

/// Writes the output of an action's attempt until the attempt has ended.
final class LogWriter: Sendable {
  private let output: StepOutputSink
  private let time: any TimeSource
  /// Locked while a line is written, so that one thread writes at a time.
  private let isDown = Mutex(false)

  init(_ output: StepOutputSink, _ time: any TimeSource) {
    self.output = output
    self.time = time
  }

  func write(_ line: String) {
    var line = line + "\n"
    isDown.withLock { isDown in
      guard !isDown else { return }
      line.withUTF8 { output.write(UnsafeRawBufferPointer($0), to: .stdout, at: time.now) }
    }
  }

  /// Stops all further writing; waits for a line that is being written.
  func close() { isDown.withLock { $0 = true } }
}
