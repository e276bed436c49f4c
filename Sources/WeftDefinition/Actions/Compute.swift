import WeftJSON

/// The action of a step that runs nothing: its outputs are computed.
struct Computation: ActionModel {
  static let rules = ActionRules(
    "outputs", "only computes outputs", resultClause: "runs nothing", result: .step,
    settings: ["env"],
    remedy: { "add \"run\", or remove \"\($0)\"" })

  var repetition: Repetition { .unknown }
  var keepsResults: Bool { false }
  var forecast: DurationForecast { .planned(.zero) }

  func obstacle(toReading field: StepField) -> ResultObstacle? {
    field.isOfProgram ? .runsNothing : nil
  }

  func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String {
    "computes " + outputs.map(\.name).joined(separator: ", ")
  }
}
