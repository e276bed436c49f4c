import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftLoading
import WeftPlanning
import WeftRecord
import WeftReporting

/// The plan of a recorded run, rebuilt from the file as it was read then. Provides the titles of steps, and the steps
/// that have not begun.
struct RecordedPlan {
  /// `nil` if the file was not recorded or is not valid.
  let plan: Plan?
  private let secrets = RunSecrets()

  /// - Parameter opening: The run's last opening record.
  init(_ run: RunID, _ opening: RecordOpening?, in state: StateDirectory) {
    guard let opening, let path = opening.file,
      let bytes = (try? state.workflow(of: run)) ?? nil,
      let plan = RecordedPlan.plan(of: bytes, path, opening)
    else {
      plan = nil
      return
    }
    let inputs = try? InputCollection.values(
      .none, for: plan.workflow.inputs, allowsMissing: true, recorded: opening.inputs)
    guard let inputs else {
      self.plan = plan
      return
    }
    // The file contains the default values of secret inputs.
    secrets.add(secretsIn: inputs)
    let (bound, problems) = plan.bound(to: inputs, run: run, in: state.folderPath(of: run))
    self.plan = problems.isEmpty ? bound : plan
  }

  private static func plan(of bytes: [UInt8], _ path: String, _ opening: RecordOpening) -> Plan? {
    let isNameless = path == "<stdin>"
    let place = path.hasPrefix("/") ? path : opening.directory.map { "\($0)/\(path)" } ?? path
    let (workflow, _) = WorkflowLoader.load(
      SourceFile(path: path, bytes: bytes), at: isNameless ? nil : place,
      startDirectory: opening.directory)
    return workflow.flatMap { Planner.plan($0).plan }
  }

  /// The titles of its steps; only their addresses if there is no plan.
  var labels: StepLabels {
    plan.map { StepLabels($0, mask: secrets.mask) } ?? StepLabels()
  }
}
