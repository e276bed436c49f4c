import Synchronization
import WeftDefinition
public import WeftEvents
public import WeftJSON
public import WeftPlanning
import WeftPlatform

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
