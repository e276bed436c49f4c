import WeftEvents
import WeftPlatform

/// Decides how many attempts of a run may run at once, from the wanted number and the limit of open files.
///
/// ``RunEngine`` asks it once, before a run starts.
struct ParallelLimit: Sendable, Hashable {
  let count: Int
  /// The warning to report if fewer are possible than wanted.
  let warning: RunWarning?

  /// - Parameters:
  ///   - wanted: The number that the caller, the workflow or the processor count asks for.
  ///   - steps: The number of steps, which is an upper bound.
  ///   - extra: The number of descriptors that each step may need besides those of any program.
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
      message: "only \(possible) of \(wanted) steps can run at once: the limit of open files is "
        + "\(budget.limit), and \(budget.open) are already open",
      help:
        "raise the limit first (ulimit -n \(budget.limit(forPrograms: needed, extra: extra))), or "
        + "run fewer (-j \(possible))")
  }
}
