import Synchronization
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

/// Runs attempts, and interferes with the engine's slots as a faulty engine would.
final class MeddlingExecutor: StepExecutor {
  private let fault: PlantedFault
  private let world: ScriptedWorld
  /// The number of a step that has ended for good, and when that was.
  private let ended = Mutex<(instanceNumber: Int, at: Duration)?>(nil)

  init(_ fault: PlantedFault, _ world: ScriptedWorld) {
    (self.fault, self.world) = (fault, world)
  }

  func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    world.probe(attempt, for: service, stop: stop)
  }

  func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    switch fault {
    case .slotNotReturned: takeSlotAgain(attempt)
    case .elementRunTwice where attempt.address.text.hasSuffix("]"): _ = world.execute(attempt)
    default: break
    }
    let future = world.execute(attempt)
    guard attempt.step.group == 0, attempt.index == attempt.instanceNumber,
      attempt.step.retry.isEmpty
    else { return future }
    return future.map { [self] end in
      ended.withLock { $0 = (attempt.instanceNumber, world.now) }
      return end
    }
  }

  /// Takes a slot for a step that has ended, as if it had never been returned.
  private func takeSlotAgain(_ attempt: Attempt) {
    let again = ended.withLock { ended -> Int? in
      guard let known = ended, known.at < world.now else { return nil }
      ended = nil
      return known.instanceNumber
    }
    if let again { _ = attempt.slots.acquire(again) }
  }
}
