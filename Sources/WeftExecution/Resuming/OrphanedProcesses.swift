package import WeftEvents
import WeftPlanning
package import WeftPlatform

/// The orphans of a run: processes that its steps started and that outlive the engines of the run.
///
/// It finds them by the cookies of the recorded engines. `weft reap` terminates them, and so does resume before it
/// starts an engine, since a step must never run twice at the same time.
package struct OrphanedProcesses {
  private let run: RunID
  private let engines: [RecordedEngine]
  private let search = RunSearch(membership: RunCookie.membership)

  package init(of run: RunID, recorded: RunState) {
    self.run = run
    engines = recorded.engines
  }

  /// The orphans that are alive now, without those that `"leftovers": "keep"` allows to stay.
  package var processes: [ProcessStatus] { search.processes(of: run.text, startedBy: engines) }

  /// Terminates all orphans: TERM, then KILL after a grace period. Blocks until each is dead or cannot be killed.
  package func end() -> OrphansEnd {
    OrphanTermination(policy: StopPolicy(), stop: StopSwitch()) { processes }.end()
  }

  /// The help for processes that could not be killed.
  package static let help = "they may belong to another user, or wait for a device"
}
