import WeftCaching
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

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
    case .cached: "\"\(step)\" would not be run: it has made the same before"
    case .runs([CacheForecast.neverRun]): "\"\(step)\" would be run: nothing is kept of it"
    case .runs(["result"]): "\"\(step)\" would be run: not all that it made is there any more"
    case .runs(let reasons):
      "\"\(step)\" would be run: \(reasons.joined(separator: ", ")) changed"
    case .open(let reason): "\"\(step)\": known at run time, for \(reason) counts"
    }
  }

  private var proviso: String? {
    forecast.unless.map { "unless \"\($0)\", which runs before it, changes what it reads" }
  }

  private var comparison: String? {
    guard let entry = explanation?.nearest else { return nil }
    let moment = Timestamp(nanoseconds: entry.storedAt * 1_000_000)
    return "compared with what it made in run \(entry.run), at \(moment)"
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
    case (let before?, nil): "gone: \(shown(before))"
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
