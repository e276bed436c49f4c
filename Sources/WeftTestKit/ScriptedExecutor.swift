import Synchronization
package import WeftDefinition
package import WeftEvents
package import WeftExecution
package import WeftFutures
import WeftPlanning
package import WeftPlatform

/// An executor whose attempts run until the test ends them.
package final class ScriptedExecutor: StepExecutor {
  private struct Running {
    let attempt: Attempt
    let promise: Promise<AttemptEnd, Never>
  }

  private let running = Mutex<[StepAddress: Running]>([:])
  /// The signs of services that have not been ready yet.
  private let signs = Mutex<[StepAddress: Promise<Bool, Never>]>([:])

  private let startHook = Mutex<(@Sendable (String) -> Void)?>(nil)

  package init() {}

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    let promise = Promise<AttemptEnd, Never>(ifDropped: .success(AttemptEnd(.stopped(nil))))
    running.withLock { running in
      let earlier = running.updateValue(
        Running(attempt: attempt, promise: promise), forKey: attempt.address)
      precondition(earlier == nil, "step \"\(attempt.address)\" runs twice at once")
    }
    startHook.withLock { $0 }?(attempt.address.text)
    return promise.future
  }

  package func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    let sign = Promise<Bool, Never>(ifDropped: .success(false))
    signs.withLock { $0[attempt.address] = sign }
    return sign.future
  }

  /// Calls a function with the address of each step that starts from now on.
  package func whenStarted(_ hook: @escaping @Sendable (String) -> Void) {
    startHook.withLock { $0 = hook }
  }

  /// Lets a service be found ready.
  package func beReady(_ step: String) {
    signs.withLock { $0.removeValue(forKey: StepAddress(step)) }?.succeed(true)
  }

  /// The running attempts, in file order.
  package var attempts: [Attempt] {
    running.withLock { running in
      running.values.map(\.attempt).sorted {
        ($0.index, $0.instanceNumber) < ($1.index, $1.instanceNumber)
      }
    }
  }

  /// The addresses of the running attempts, in file order.
  package var runningSteps: [String] { attempts.map(\.address.text) }

  /// Whether the attempt has been asked to stop.
  package func isStopping(_ step: String) -> Bool {
    running.withLock { running in
      running[StepAddress(step)].map { $0.attempt.stop.level > .none } ?? false
    }
  }

  /// Writes output of the attempt; whole lines, or parts of them.
  package func write(_ text: String, from step: String, to stream: StepOutput.Stream = .stdout) {
    guard let attempt = running.withLock({ $0[StepAddress(step)]?.attempt }) else {
      preconditionFailure("step \"\(step)\" does not run")
    }
    var text = text
    text.withUTF8 { attempt.output.write(UnsafeRawBufferPointer($0), to: stream) }
  }

  /// Ends the attempt.
  package func end(_ step: String, _ status: AttemptEnd.Status) {
    guard let ended = running.withLock({ $0.removeValue(forKey: StepAddress(step)) }) else {
      preconditionFailure("step \"\(step)\" does not run")
    }
    ended.promise.succeed(AttemptEnd(status))
  }

  /// Ends the attempt with an exit code.
  package func exit(_ step: String, code: Int = 0) { end(step, .ended(.code(code))) }
}
