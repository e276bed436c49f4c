import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftLoading
import WeftPlanning
import WeftRecord
import WeftReporting

/// The plan of a recorded run, made again of the file as it was read then: to call its steps as its own display
/// does, and to know those that have not begun.
struct RecordedPlan {
  /// `nil` where the file was not recorded, or is not understood.
  let plan: Plan?
  private let secrets = RunSecrets()

  /// - Parameter opening: As the run was taken up.
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
    // What a secret input is by default stands in the file.
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

  /// What people call its steps; nothing but their addresses where there is no plan.
  var labels: StepLabels {
    plan.map { StepLabels($0, mask: secrets.mask) } ?? StepLabels()
  }
}
