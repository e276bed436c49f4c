import WeftDefinition
import WeftEvents

/// The number of further attempts that a whole run has for failures that many steps tend to have at once: those
/// of networks and servers. Without it, every step would retry against a server that is down as often as its
/// own `retry` allows.
struct RetryBudget {
  /// The percentage of steps, unless `--retry-budget` sets it.
  static let defaultPercent = 20
  /// Added to every run's budget, so that it does not limit small ones.
  static let allowance = 100

  private var steps: Int
  private let percent: Int
  private var used = 0

  /// - Parameters:
  ///   - steps: The steps of the whole run; elements of loops are added once they are known.
  ///   - percent: Further attempts per hundred steps, at least 0.
  init(steps: Int, percent: Int = RetryBudget.defaultPercent) {
    precondition(steps >= 0 && percent >= 0)
    self.steps = steps
    self.percent = percent
  }

  /// The total of further attempts: the share of the steps, rounded down, plus ``allowance``.
  var limit: Int {
    let (share, overflows) = steps.multipliedReportingOverflow(by: percent)
    return overflows ? .max : share / 100 + RetryBudget.allowance
  }

  /// Adds steps that were unknown at the start: those of elements.
  mutating func add(steps count: Int) { steps += count }

  /// Whether retries after this failure are taken from the budget.
  static func covers(_ failure: StepFailure) -> Bool {
    failure.classes.contains { errorClass in
      let kind = errorClass.name.prefix { $0 != ":" }
      return kind == "network" || kind == "http"
    }
  }

  /// Takes one further attempt; `false` if none is left.
  mutating func take() -> Bool {
    guard used < limit else { return false }
    used += 1
    return true
  }
}
