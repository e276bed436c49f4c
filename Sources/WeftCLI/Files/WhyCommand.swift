import Weft
import WeftCaching
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// `weft why`: whether a step would run, and what has changed since its most similar result.
struct WhyCommand: Subcommand {
  private let file: FileOperand
  private let step: String

  init(_ parsed: ParsedArguments) throws(UsageError) {
    file = try FileOperand(parsed)
    step = parsed.operands[1]
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let preview = try file.preview(console)
    let step = try cachedStep(of: preview.plan)
    let forecaster: CacheForecaster
    do { forecaster = try preview.forecaster(of: preview.plan) } catch {
      throw CommandFailure(.broken, "the directory cannot be read: \(error)")
    }
    guard let forecast = forecaster.forecasts[step.node] else {
      console.output.write("\"\(step.address)\" would not run: it is not selected\n")
      return .success
    }
    let text = WhyText(
      step: step.address, forecast: forecast, explanation: forecaster.explanations[step.node])
    for line in text.lines { console.output.write(TerminalText.harmless(line) + "\n") }
    return .success
  }

  private func cachedStep(of plan: Plan) throws(CommandFailure) -> PlannedStep {
    let known = Set(plan.steps.map(\.address))
    // The plan contains the steps of a loop only once.
    let named = StepAddress(parsing: step)?.planned(isKnown: known.contains)
    guard let found = plan.steps.first(where: { $0.address == named }) else {
      let nearest = NearestName(plan.steps.map(\.address.text)).nearest(to: step)
      throw CommandFailure(
        .usage, "\"\(step)\" is not a step of this workflow",
        help: nearest.asSuggestion
          ?? "\"weft graph FILE\" shows the names of the steps")
    }
    guard found.isCached else {
      throw CommandFailure(
        .usage, "step \"\(found.address)\" has no \"cache\", so it always runs",
        help: "declare what it reads and writes: \"cache\": { \"inputs\": […], \"outputs\": […] }")
    }
    return found
  }
}

/// The output of `weft why`, in lines.
struct WhyText {
  let step: StepAddress
  let forecast: CacheForecast
  let explanation: CacheExplanation?

  var lines: [String] {
    [verdict] + differences + [proviso, comparison].compactMap(\.self)
  }

  private var verdict: String {
    switch forecast.verdict {
    case .cached: "\"\(step)\" would not run: its result is cached"
    case .runs([CacheForecast.neverRun]): "\"\(step)\" would run: no result is cached"
    case .runs(["result"]): "\"\(step)\" would run: its cached result is incomplete"
    case .runs(let reasons):
      "\"\(step)\" would run: \(reasons.joined(separator: ", ")) changed"
    case .open(let reason): "\"\(step)\": known only at run time: \(reason)"
    }
  }

  private var proviso: String? {
    forecast.unless.map { "unless \"\($0)\", which runs before it, changes its inputs" }
  }

  private var comparison: String? {
    guard let entry = explanation?.nearest else { return nil }
    let moment = Timestamp(nanoseconds: entry.storedAt * 1_000_000)
    return "compared with its result in run \(entry.run), at \(moment)"
  }

  // MARK: Differences

  /// The maximum number of listed differences.
  private static let shown = 20

  private var differences: [String] {
    let all = explanation?.differences ?? []
    let rows = all.prefix(WhyText.shown).map { ($0.part.rawValue, $0.name, WhyText.change($0)) }
    let (part, name) = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
    let lines = rows.map { row in
      "  \(WhyText.padded(row.0, part))  \(name == 0 ? "" : WhyText.padded(row.1, name) + "  ")\(row.2)"
    }
    let rest = all.count - rows.count
    return lines + (rest > 0 ? ["  and \(rest) more"] : [])
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func change(_ difference: CacheDifference) -> String {
    switch (difference.before, difference.after) {
    case (let before?, let after?): "\(shown(before)) -> \(shown(after))"
    case (nil, let after?): "new: \(shown(after))"
    case (let before?, nil): "removed: \(shown(before))"
    case (nil, nil): ""
    }
  }

  private static func shown(_ content: CacheContent) -> String {
    switch content {
    case .text(let text): quoted(text)
    case .long(let hash): "a long text (\(hash.prefix(12)))"
    case .secret(let code): "a secret (\(code.prefix(8)))"
    case .file(let hash, let isExecutable):
      hash.prefix(12) + (isExecutable ? " (executable)" : "")
    case .link(let target, let hash):
      "a link to \(quoted(target))" + (hash.map { " (\($0.prefix(12)))" } ?? "")
    case .directory: "a directory"
    case .unset: "not set"
    }
  }

  /// Quotes the beginning of a text.
  private static func quoted(_ text: String) -> String {
    let shown = text.prefix(60)
    return "\"\(shown)\(shown.endIndex == text.endIndex ? "" : "…")\""
  }
}
