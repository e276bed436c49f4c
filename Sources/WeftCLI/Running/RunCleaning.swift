import WeftEvents
import WeftPlatform
import WeftRecord

/// Removes old runs when a run has ended.
///
/// Runs that could still be resumed are kept, and so is the run itself, regardless of the clock. A failed removal is
/// a warning.
struct RunCleaning {
  private let place: String
  private let count: Int

  init(_ invocation: RunInvocation) {
    place = invocation.recordDirectory
    count = invocation.keptRuns
  }

  func clean(after run: RunID, _ console: Console) {
    guard let state = try? StateDirectory(place, makes: false) else { return }
    // Only runs beyond the limit are inspected.
    guard state.ids.count > count else { return }
    for old in state.newestFirst().dropFirst(count)
    where old != run && state.retention(of: old) == .ended {
      do throws(RunFolderError) {
        _ = try state.remove(old, retention: .ended)
      } catch {
        console.errors.write(
          "weft: warning: the record of run \(old) could not be removed: "
            + "\(CommandError(error.message).harmlessMessage)\n")
      }
    }
  }
}
