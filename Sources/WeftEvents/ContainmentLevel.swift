/// A method for finding all processes that a step has started when they are to be terminated.
///
/// The engine uses the first level that is available. The Reliability article lists what each finds and misses.
public enum ContainmentLevel: String, Sendable, Hashable, CaseIterable {
  /// Each attempt is in a control group (Linux, cgroup v2) of its own. Nothing escapes.
  case cgroup
  /// The engine's process adopts orphans (`PR_SET_CHILD_SUBREAPER`). Nothing outlives the run, but the step
  /// that started an orphan may be unknown.
  case subreaper
  /// Processes are found by session, parentage, and an environment variable. One that changes all three
  /// escapes.
  case groupAndCookie = "group+cookie"
}
