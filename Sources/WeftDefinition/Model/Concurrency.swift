/// Keeps runs with the same key apart: only one of them is active at a time.
public struct Concurrency: Sendable, Hashable {
  /// The behavior of a run while another one with the same key is active.
  public enum Policy: String, Sendable, Hashable, CaseIterable {
    /// Waits until the other one has ended.
    case wait
    /// Does not start.
    case refuse
    /// Cancels the other one and waits until it has ended; if several wait, the latest run wins.
    case cancelPrevious
  }

  /// Any text; its expressions may read `inputs`, `run` and `workflow`.
  public var key: String
  public var policy: Policy

  public init(key: String, policy: Policy = .wait) {
    self.key = key
    self.policy = policy
  }
}
