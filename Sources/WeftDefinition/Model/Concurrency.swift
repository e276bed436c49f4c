/// Keeps runs of one key apart: while one of them is under way, none of the others is.
public struct Concurrency: Sendable, Hashable {
  /// What a run does when another of the same key is under way.
  public enum Policy: String, Sendable, Hashable, CaseIterable {
    /// Waits until it has ended.
    case wait
    /// Does not begin.
    case refuse
    /// Has it cancelled, and waits until it has ended; of several that wait, the latest run wins.
    case cancelPrevious
  }

  /// Any text; expressions in it may read `inputs`, `run` and `workflow`.
  public var key: String
  public var policy: Policy

  public init(key: String, policy: Policy = .wait) {
    self.key = key
    self.policy = policy
  }
}
