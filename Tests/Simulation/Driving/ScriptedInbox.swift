import Synchronization
import WeftEvents
import WeftExecution
import WeftPlanning

/// An inbox with the control requests that a run finds when it begins.
final class ScriptedInbox: ControlInbox {
  private let requests: Mutex<[ControlRequest]>

  init(_ requests: [ControlRequest]) {
    self.requests = Mutex(requests)
  }

  func take(answersTo steps: Set<StepAddress>) -> [ControlRequest] {
    requests.withLock { requests in
      let taken = requests.filter { ScriptedInbox.step(of: $0).map(steps.contains) ?? true }
      requests.removeAll { taken.contains($0) }
      return taken
    }
  }

  func discard(answersTo step: StepAddress) {
    requests.withLock { requests in
      requests.removeAll { ScriptedInbox.step(of: $0) == step }
    }
  }

  func discard(answersTo step: StepAddress, givenAfter moment: WallTime) {}

  private static func step(of request: ControlRequest) -> StepAddress? {
    switch request {
    case .approve(let step), .reject(let step): step
    case .cancel, .kill: nil
    }
  }

  func close(leaving open: Set<StepAddress>) {}
}
