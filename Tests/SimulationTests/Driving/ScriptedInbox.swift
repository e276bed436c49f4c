import Synchronization
import WeftExecution
import WeftPlanning

/// What others have asked of a run before it begins.
final class ScriptedInbox: ControlInbox {
  private let requests: Mutex<[ControlRequest]>

  init(_ requests: [ControlRequest]) {
    self.requests = Mutex(requests)
  }

  func take() -> [ControlRequest] {
    requests.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }

  func close(leaving open: Set<StepAddress>) {}
}
