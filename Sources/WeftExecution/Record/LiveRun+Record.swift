import WeftExpressions
import WeftPlatform

/// What of a step is recorded for those who read it, should another engine go on with the run.
extension LiveRun {
  func kept(_ own: NodeValues?, of task: StepTask) -> KeptValues {
    guard events.isRecorded, let own else { return KeptValues() }
    return KeptValues(
      stdout: own.stdout.map { $0.kept(from: values.spool) },
      stderr: own.stderr.map { $0.kept(from: values.spool) },
      returned: own.returned.map { $0.isSecret ? .secret : .value($0.value.json) })
  }
}

extension CapturedText {
  fileprivate func kept(from spool: CaptureSpool) -> KeptText {
    if isSecret { return .secret }
    do throws(CaptureFault) {
      return .text(try text(from: spool))
    } catch {
      switch error {
      case .tooLong: return .tooLong
      case .notUTF8: return .notUTF8
      // It is as if there were too much of it: an expression that reads it fails.
      case .unreadable: return .tooLong
      }
    }
  }
}

extension ProcessIdentity {
  /// As the system tells it now; without its start where it does not.
  static func of(_ process: Int32) -> ProcessIdentity {
    ProcessStatus(of: process)?.identity ?? ProcessIdentity(id: process, startTicks: 0)
  }
}
