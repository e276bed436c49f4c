/// How surely everything that a step has started is found again when it is to be ended.
///
/// The engine takes the first that it can have. Reliability tells what each finds, and what gets away.
public enum ContainmentLevel: String, Sendable, Hashable, CaseIterable {
  /// Each attempt is in a control group (Linux, cgroup v2) of its own, which nothing leaves: nothing gets
  /// away.
  case cgroup
  /// The engine's process adopts what loses its parents (`PR_SET_CHILD_SUBREAPER`): nothing outlives the
  /// run, though whose step it was may not be known any more.
  case subreaper
  /// By session, parentage, and a variable in the environment: what leaves all three behind, gets away.
  case groupAndCookie = "group+cookie"
}
