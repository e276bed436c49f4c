import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// What earlier runs tell about how long steps take. Nothing fails for the lack of it.
struct EarlierRuns {
  private let store: FileRunStore

  /// - Parameter place: Relative to where the process stands now, wherever it goes later.
  init(in place: String) {
    let directory = place.hasPrefix("/") ? nil : try? FileSystem.currentDirectory()
    store = FileRunStore(directory: directory.map { "\($0)/\(place)" } ?? place)
  }

  init(_ invocation: RunInvocation) { self.init(in: invocation.recordDirectory) }

  /// The plan with what is known of its steps.
  func expected(_ plan: Plan) -> Plan {
    WorkflowKey(plan).map { plan.expecting(store.history(of: $0)) } ?? plan
  }

  /// Keeps what a run has told, if it was to learn anything.
  func add(_ run: LiveRun) {
    guard let measures = run.measures, let key = WorkflowKey(run.plan) else { return }
    store.add(measures, of: run.plan, succeeded: run.report.succeeded, to: key)
  }
}
