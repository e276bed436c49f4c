import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// Step durations of earlier runs. Nothing fails if they are missing.
struct EarlierRuns {
  private let store: FileRunStore

  /// - Parameter place: A path relative to the current working directory, even if that changes later.
  init(in place: String) {
    let directory = place.hasPrefix("/") ? nil : try? FileSystem.currentDirectory()
    store = FileRunStore(directory: directory.map { "\($0)/\(place)" } ?? place)
  }

  init(_ invocation: RunInvocation) { self.init(in: invocation.recordDirectory) }

  /// Returns the plan with expected durations.
  func expected(_ plan: Plan) -> Plan {
    WorkflowKey(plan).map { plan.expecting(store.history(of: $0)) } ?? plan
  }

  /// Adds the durations of a run, if it was measured.
  func add(_ run: RunEngine) {
    guard let measures = run.measures, let key = WorkflowKey(run.plan) else { return }
    store.add(measures, of: run.plan, succeeded: run.report.succeeded, to: key)
  }
}
