import WeftDefinition

/// How many further attempts a whole run has for failures that many steps tend to have at once: of the
/// network, and of servers. Without it, a server that is down would be asked by each step as often as the
/// step's `retry` says.
struct RetryBudget {
  /// Of the steps, unless `--retry-budget` says otherwise.
  static let defaultPercent = 20
  /// What every run has besides, so that small ones are not held back.
  static let allowance = 100

  private var steps: Int
  private let percent: Int
  private var used = 0

  /// - Parameters:
  ///   - steps: Of the whole run; elements of fan-outs are added when they are known.
  ///   - percent: How many further attempts there may be for a hundred steps, at least 0.
  init(steps: Int, percent: Int = RetryBudget.defaultPercent) {
    precondition(steps >= 0 && percent >= 0)
    self.steps = steps
    self.percent = percent
  }

  /// Further attempts in all: the share of the steps rounded down, and ``allowance``.
  var limit: Int {
    let (share, overflows) = steps.multipliedReportingOverflow(by: percent)
    return overflows ? .max : share / 100 + RetryBudget.allowance
  }

  /// Steps that were not known of at the start: those of elements.
  mutating func add(steps count: Int) { steps += count }

  /// Whether retries after this failure are to be taken from the budget.
  static func covers(_ failure: StepFailure) -> Bool {
    failure.classes.contains { errorClass in
      let kind = errorClass.name.prefix { $0 != ":" }
      return kind == "network" || kind == "http"
    }
  }

  /// Takes one further attempt; `false` if there is none left.
  mutating func take() -> Bool {
    guard used < limit else { return false }
    used += 1
    return true
  }
}
