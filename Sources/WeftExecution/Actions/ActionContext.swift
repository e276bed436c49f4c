import Synchronization
public import WeftJSON
public import WeftPlanning
import WeftPlatform

/// One attempt of a step, as the action that is run for it sees it.
public struct ActionContext: Sendable {
  public let run: RunID
  /// The step, of an element with its key.
  public let step: StepAddress
  /// Counts from 1.
  public let attempt: Int
  /// What the step says in `with`, its expressions evaluated. Secrets are among it as they are; what the
  /// action writes and returns of them is masked wherever the run shows it.
  public let parameters: JSONObject
  private let pen: ActionPen

  init(_ attempt: Attempt, _ call: ResolvedCall, run: RunID, _ pen: ActionPen) {
    self.run = run
    step = attempt.address
    self.attempt = attempt.number
    parameters = call.parameters
    self.pen = pen
  }

  /// The parameter of that name; `nil` of one that is not given.
  public subscript(_ name: String) -> JSONValue? { parameters[name] }

  /// Writes a line of the step's output: into its log and as an event, secrets masked.
  ///
  /// For any thread; lines of several come one after another, whole. Nothing happens any more when the
  /// attempt is over.
  ///
  /// - Parameter line: Without a newline at its end; one in it begins another line.
  public func log(_ line: String) { pen.write(line) }
}

/// Writes the output of an action's attempt until that is over.
final class ActionPen: Sendable {
  private let output: StepOutputSink
  private let time: any TimeSource
  /// Held while a line is written, since one thread at a time writes.
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

  /// From now on nothing is written; a line that is being written is waited for.
  func putDown() { isDown.withLock { $0 = true } }
}
