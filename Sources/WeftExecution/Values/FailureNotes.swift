import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlanning

/// The failures of a run for `run.failures`, with the last lines of the steps that failed.
final class FailureNotes: Sendable {
  /// The most failures that are listed.
  static let limit = 50

  private struct State {
    /// The last lines of steps that run or have failed.
    var tails: [StepAddress: OutputTail] = [:]
    var failures: (@Sendable () -> [RunFailure])?
  }

  private let state = Mutex(State())

  /// - Parameter failures: The failures at the time of the call, the cause of the run's failure first.
  func follow(_ failures: @escaping @Sendable () -> [RunFailure]) {
    state.withLock { $0.failures = failures }
  }

  func append(_ lines: [StepOutput], of step: StepAddress) {
    state.withLock { state in
      for line in lines where line.ending != .transient {
        state.tails[step, default: OutputTail()].append(line.bytes)
      }
    }
  }

  /// Forgets the lines of a step that begins an attempt, or has not failed.
  func forget(_ step: StepAddress) { state.withLock { $0.tails[step] = nil } }

  /// The value of `run.failures`.
  var value: ExpressionValue {
    let (tails, failures) = state.withLock { ($0.tails, $0.failures) }
    return .array(
      (failures?() ?? []).prefix(FailureNotes.limit).map { failure in
        let lines = tails[failure.address]?.lines ?? []
        return .object([
          ("step", .string(failure.address.text)),
          ("class", failure.failure.classes.first.map { .string($0.name) } ?? .null),
          ("message", .string(failure.failure.message)),
          ("lastLines", .array(lines.map { .string(String(decoding: $0, as: UTF8.self)) })),
        ])
      })
  }
}

extension RunEngine {
  /// The failures so far that count, the cause of the run's failure first.
  func failuresSoFar() -> [RunFailure] {
    let cause = state.withLock { $0.scopes.firstFault?.address }
    let failures = events.failures
    return failures.filter { $0.address == cause } + failures.filter { $0.address != cause }
  }
}
