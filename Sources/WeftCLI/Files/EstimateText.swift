import Weft
import WeftDefinition
import WeftDiagnostics
import WeftReporting

/// A prediction as text: the durations, then what decides the first of them, then what had to be assumed.
struct EstimateText {
  private let text: DisplayText
  private let palette: Palette

  init(_ settings: DisplaySettings) {
    text = DisplayText(passesSGR: false, passesUnicode: settings.usesUnicode)
    palette = Palette(usesColour: settings.usesColour, usesUnicode: settings.usesUnicode)
  }

  /// The most steps of a critical path that are shown at its start, and at its end.
  private static let shownLinks = 15

  /// Returns the text, with a line end after each line.
  func rendered(_ estimate: Estimate) -> String {
    let first = estimate.predictions[0]
    var lines = predictions(estimate.predictions)
    let sections = [
      ("critical path with -j \(first.maxParallel)", path(estimate)),
      ("limits with -j \(first.maxParallel)", limits(estimate)),
      ("gain with -j \(first.maxParallel) if twice as fast", speedUps(estimate)),
      ("basis", basis(estimate)),
    ]
    for (title, content) in sections where !content.isEmpty {
      lines += ["", palette.painted(title, .strong)] + content.map { "  \($0)" }
    }
    return lines.map { $0 + "\n" }.joined()
  }

  // MARK: Predictions

  private func predictions(_ predictions: [Estimate.Prediction]) -> [String] {
    let heads = columns(predictions.map { ["-j \($0.maxParallel)", shown($0.duration)] })
    return zip(heads, predictions).flatMap { head, prediction in
      let range = prediction.range.map {
        "  (\(shown($0.lowerBound)) to \(shown($0.upperBound)))"
      }
      var lines = [head.trimmingEnd + (range ?? "")]
      if let earlier = prediction.earlier { lines.append("      \(took(earlier))") }
      if prediction.outcome != .success {
        lines.append("      the run would end early: \(prediction.outcome.rawValue)")
      }
      return lines
    }
  }

  private func took(_ earlier: Estimate.EarlierRun) -> String {
    let remarks = [
      earlier.unforeseeable > .zero
        ? "\(shown(earlier.unforeseeable)) of it waiting for people or a point in time" : nil,
      earlier.hasOtherInputs ? "with other inputs" : nil,
      earlier.hasOtherFile ? "before the file changed" : nil,
    ].compactMap(\.self)
    return "run \(earlier.run) took \(shown(earlier.duration))"
      + (remarks.isEmpty ? "" : ", " + remarks.joined(separator: ", "))
  }

  // MARK: The critical path

  private func path(_ estimate: Estimate) -> [String] {
    let links = estimate.criticalPath
    let rows = columns(links.map { [name($0.step), shown($0.duration)] })
    var lines = zip(rows, links).map { ($0 + remark(on: $1)).trimmingEnd }
    let most = EstimateText.shownLinks
    if lines.count > 2 * most + 1 {
      let left = links[most..<(links.count - most)]
      let time = left.reduce(Duration.zero) { $0 + $1.duration + $1.delay }
      lines.replaceSubrange(
        most..<(lines.count - most),
        with: ["\(text.ellipsis) \(left.count) more steps, \(shown(time))"])
    }
    if estimate.finalDelay > .zero { lines.append("then a wait of \(shown(estimate.finalDelay))") }
    return lines
  }

  private func remark(on link: Estimate.Link) -> String {
    let start: String? =
      switch link.start {
      case .immediate, .dependency: nil
      case .slot: "in the slot of the step before"
      case .pool(let pool): "after the step before left pool \(name(pool))"
      case .resources: "with resources of the step before"
      case .limit: "after the step before, because of a maxParallel"
      case .cleanup: "after the step before: cleanups run one at a time"
      case .stopping: "to end, when it was stopped after the step before"
      }
    let delay = link.delay > .zero ? "\(shown(link.delay)) of waiting between" : nil
    let remarks = [delay, start].compactMap(\.self).joined(separator: ", ")
    return remarks.isEmpty ? "" : "  " + remarks
  }

  // MARK: Limits and gains

  private func limits(_ estimate: Estimate) -> [String] {
    if estimate.limits.isEmpty {
      return ["none makes the run longer: the critical path decides"]
    }
    return gains(
      estimate.limits.map { (limit($0.kind), $0.without) }, of: estimate, verb: "without it")
  }

  private func limit(_ kind: Estimate.Limit.Kind) -> String {
    switch kind {
    case .slots(let count): "-j \(count)"
    case .pool(let pool): "pool \(name(pool))"
    case .resources: "resources"
    case .maxParallel(let address): "maxParallel of \(name(address))"
    case .all: "several together"
    }
  }

  private func speedUps(_ estimate: Estimate) -> [String] {
    if estimate.speedUps.isEmpty { return ["no single step makes the run shorter"] }
    return gains(estimate.speedUps.map { (name($0.step), $0.duration) }, of: estimate, verb: "then")
  }

  private func gains(
    _ gains: [(name: String, duration: Duration)], of estimate: Estimate, verb: String
  ) -> [String] {
    columns(
      gains.map {
        [
          $0.name, "\(shown(estimate.duration - $0.duration)) less",
          "\(verb) \(shown($0.duration))",
        ]
      }
    ).map(\.trimmingEnd)
  }

  // MARK: The basis

  private func basis(_ estimate: Estimate) -> [String] {
    let basis = estimate.basis
    var lines: [String] = []
    switch basis.runs.count {
    case 0: lines.append("the recorded durations of runs that are not kept any more")
    case 1: lines.append("the durations of run \(basis.runs[0])")
    default: lines.append("the durations of \(basis.runs.count) runs, the latest \(basis.runs[0])")
    }
    let assumed = "never measured, so \(shown(basis.assumed)), the median of the others, is assumed"
    for (sentence, steps) in [
      (assumed, basis.unmeasured),
      ("changed since the latest run, so measured before that", basis.changed),
      ("wait for people or a point in time, which counts as 0", basis.unforeseeable),
      ("restored from the cache, which counts as 0", basis.cached),
      ("conditions known only during a run, decided as in the latest", basis.conditions),
      ("conditions known only during a run, assumed to be true", basis.openConditions),
      ("lists known only during a run, as in the latest", basis.loops),
      ("lists known only during a run, assumed to have one element", basis.openLoops),
    ] where !steps.isEmpty {
      lines.append("\(sentence): \(shortList(steps.map(name)))")
    }
    for known in basis.failures.prefix(EstimateText.shownLinks) {
      lines.append("\(name(known.step)) \(text.name(known.failure.message))")
    }
    if basis.failures.count > EstimateText.shownLinks {
      lines.append("and \(basis.failures.count - EstimateText.shownLinks) more do not start")
    }
    if !basis.inputs.isEmpty {
      lines.append("inputs that were not given, as in the latest run: \(shortList(basis.inputs))")
    }
    return lines
  }

  // MARK: Words

  private func shown(_ duration: Duration) -> String { ShownDuration.precise(duration) }
  private func name(_ step: StepAddress) -> String { text.name(step.text) }
  private func name(_ pool: String) -> String { "\"\(text.name(pool))\"" }

  /// Pads the cells of each column to the same width: the first to the left, the second to the right.
  private func columns(_ rows: [[String]]) -> [String] {
    let widths = (0..<(rows.first?.count ?? 0)).map { column in
      rows.map { $0[column].unicodeScalars.count }.max() ?? 0
    }
    return rows.map { row in
      row.indices.map { column in
        let gap = String(repeating: " ", count: widths[column] - row[column].unicodeScalars.count)
        return column == 1 ? gap + row[column] : row[column] + gap
      }.joined(separator: "  ")
    }
  }
}

extension String {
  fileprivate var trimmingEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
