import WeftDefinition

/// What earlier runs say about how long it takes, in a few words.
enum DurationRemarks {
  /// `took 1.2 s`
  static func remarks(on step: PlannedStep, _ forecast: NodeForecast) -> [String] {
    guard let duration = forecast.duration else { return [] }
    let isMany = step.hasControl && step.control.fanOut != nil
    return ["took \(ShownDuration.precise(duration))" + (isMany ? " each" : "")]
  }
}

/// The critical path in one line: `critical path 1 m 05 s, as earlier runs took: build, unit, pack`.
struct CriticalPathLine {
  private let head: String
  private let steps: String

  /// - Returns: `nil` where there are no earlier runs.
  init?(_ plan: Plan) {
    guard let expected = plan.expectedDurations else { return nil }
    let time = ShownDuration.precise(.microseconds(expected.longestPath))
    let guessed = expected.guessedCount
    let proviso =
      switch guessed {
      case 0: ""
      case 1: " (1 step was never measured)"
      default: " (\(guessed) steps were never measured)"
      }
    head = "critical path \(time), as earlier runs took\(proviso)"
    steps = expected.criticalPath(of: plan).map { plan.steps[$0].address.text }
      .joined(separator: ", ")
  }

  func write(to text: inout PrintedText, width: Int) {
    text.append(steps.isEmpty ? head : "\(head): \(steps)", atMost: width)
    text.endLine()
  }
}

extension Plan {
  /// How long one time of a step took in earlier runs; `nil` if it was not measured in one.
  func measuredDuration(at node: NodeIndex) -> Duration? {
    guard let durations = forecast.durations, case .step(let index) = nodes[node],
      durations.steps[Int(index)].basis == .measured
    else { return nil }
    return .microseconds(durations.steps[Int(index)].each)
  }

  /// The nodes of the steps on the critical path, in its order; none where there are no earlier runs.
  func criticalNodes() -> [NodeIndex] {
    expectedDurations?.criticalPath(of: self).map { steps[$0].node } ?? []
  }
}
