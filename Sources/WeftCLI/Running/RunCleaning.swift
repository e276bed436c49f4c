import WeftExecution
import WeftPlatform
import WeftRecord

/// Takes away the records of old runs when a run has ended.
///
/// Those that could still be resumed stay, and so does the run itself, whatever the clock says. What cannot be
/// taken away is a warning.
struct RunCleaning {
  private let place: String
  private let count: Int

  init(_ invocation: RunInvocation) {
    place = invocation.recordDirectory
    count = invocation.keptRuns
  }

  func clean(after run: RunID, _ console: Console) {
    guard let state = try? StateDirectory(place, makes: false) else { return }
    // Only those that may go are looked at.
    guard state.ids.count > count else { return }
    for old in state.newestFirst().dropFirst(count)
    where old != run && state.standing(of: old) == .ended {
      do throws(RunFolderFault) {
        _ = try state.remove(old, standing: .ended)
      } catch {
        console.errors.write(
          "weft: warning: the record of run \(old) could not be removed: "
            + "\(Complaint(error.message).harmlessMessage)\n")
      }
    }
  }
}
