import WeftDefinition

/// Short remarks on durations in earlier runs.
enum DurationRemarks {
  /// Remarks such as `took 1.2 s`.
  static func remarks(on step: PlannedStep, _ forecast: NodeForecast) -> [String] {
    guard let duration = forecast.duration else { return [] }
    let isMany = step.hasControl && step.control.fanOut != nil
    return ["took \(ShownDuration.precise(duration))" + (isMany ? " each" : "")]
  }
}

/// The critical path for the user: `critical path 1 m 05 s in earlier runs: build, unit, pack`.
struct CriticalPathText {
  private static let linesShown = 4

  private let head: String
  private let names: [String]

  /// - Returns: `nil` if there are no earlier runs.
  init?(_ plan: Plan) {
    guard let expected = plan.expectedDurations else { return nil }
    let guessed = expected.guessedCount
    guard expected.longestPath > 0, expected.measuredCount > guessed else {
      names = []
      head =
        "critical path not known: "
        + (guessed == 0
          ? "no step that will run has been measured"
          : "\(guessed == 1 ? "1 step" : "\(guessed) steps") never measured")
      return
    }
    let time = ShownDuration.precise(.microseconds(expected.longestPath))
    let proviso =
      guessed == 0 ? "" : " (\(guessed == 1 ? "1 step" : "\(guessed) steps") never measured)"
    names = expected.criticalPath(of: plan).map { plan.steps[$0].address.text }
    head = "critical path \(time) in earlier runs\(proviso)" + (names.isEmpty ? "" : ":")
  }

  /// Addresses are ASCII without control characters.
  func write(to text: inout PrintedText, width: Int) {
    text.append(head)
    var (used, lines) = (head.utf8.count, 1)
    for (position, name) in names.enumerated() {
      let word = position + 1 < names.count ? "\(name)," : name
      if used + 1 + word.utf8.count > width, used > 1 {
        lines += 1
        text.endLine()
        text.append(" ")
        used = 1
        if lines > CriticalPathText.linesShown {
          text.append(" and \(names.count - position) more")
          break
        }
      }
      text.append(" ")
      text.append(word)
      used += 1 + word.utf8.count
    }
    text.endLine()
  }
}

extension PrintedText {
  /// Appends what ends the forms for people: an empty line, the summary and the critical path.
  mutating func appendEnding(of plan: Plan, width: Int) {
    append("\n")
    append(PlanSummary(of: plan).text)
    endLine()
    CriticalPathText(plan)?.write(to: &self, width: width)
  }
}

extension Plan {
  /// The duration of one instance of a step in earlier runs; `nil` if it was never measured.
  func measuredDuration(at node: NodeIndex) -> Duration? {
    guard let durations = forecast.durations, case .step(let index) = nodes[node],
      durations.steps[Int(index)].basis == .measured
    else { return nil }
    return .microseconds(durations.steps[Int(index)].each)
  }

  /// The nodes of the steps on the critical path, in path order; empty if there are no earlier runs.
  func criticalNodes() -> [NodeIndex] {
    expectedDurations?.criticalPath(of: self).map { steps[$0].node } ?? []
  }
}
