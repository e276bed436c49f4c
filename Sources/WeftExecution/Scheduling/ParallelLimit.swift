import WeftPlatform

/// How many attempts of a run may be under way at once, given how many are wanted and what there is.
struct ParallelLimit: Sendable, Hashable {
  let count: Int
  /// What to tell if fewer are possible than wanted.
  let warning: RunWarning?

  /// - Parameters:
  ///   - wanted: What the caller, the workflow or the machine's processors ask for.
  ///   - steps: More than these cannot run, whatever is wanted.
  ///   - extra: How many descriptors each step may need beside those of any program.
  init(wanted: Int, steps: Int, budget: DescriptorBudget, extra: Int = 0) {
    let (needed, possible) = (min(wanted, max(1, steps)), budget.programs(extra: extra))
    guard possible < needed else {
      count = wanted
      warning = nil
      return
    }
    count = possible
    warning = RunWarning(
      kind: .fewDescriptors,
      message: "at most \(possible) of the wanted \(wanted) steps run at once: the limit of open"
        + " files is \(budget.limit), and \(budget.open) are open already",
      help:
        "raise the limit first (ulimit -n \(budget.limit(forPrograms: needed, extra: extra))), or ask for"
        + " fewer (-j \(possible))")
  }
}
