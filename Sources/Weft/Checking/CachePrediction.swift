import WeftCaching
import WeftExecution
public import WeftPlanning
import WeftPlatform

/// Whether a step with `cache` would run, and what has changed since its most similar result.
public struct CachePrediction: Sendable {
  private let forecast: CacheForecast
  private let explanation: CacheExplanation?

  init(_ forecast: CacheForecast, _ explanation: CacheExplanation?) {
    self.forecast = forecast
    self.explanation = explanation
  }

  /// Whether the step will not run because its result is cached; `nil` if that is known only at run time.
  public var isCached: Bool? {
    switch forecast.verdict {
    case .cached: forecast.unless == nil ? true : nil
    case .runs: false
    case .open: nil
    }
  }

  /// Returns the reason in lines, as `weft why` prints it.
  public func explanation(of step: StepAddress) -> [String] {
    [verdict(of: step)] + differences + [proviso, comparison].compactMap(\.self)
  }

  private func verdict(of step: StepAddress) -> String {
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
    let rows = all.prefix(CachePrediction.shown).map {
      ($0.part.rawValue, $0.name, CachePrediction.change($0))
    }
    let (part, name) = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
    let lines = rows.map { row in
      "  \(CachePrediction.padded(row.0, part))  \(name == 0 ? "" : CachePrediction.padded(row.1, name) + "  ")\(row.2)"
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
