/// The limits for reading output that other processes hold open when a program has ended.
package struct DrainLimits: Sendable, Hashable {
  /// The silence after which the output is considered complete.
  package var quiet = Duration.milliseconds(100)
  /// The limit for output that does not end.
  package var total = Duration.seconds(2)

  package init() {}
}

/// Decides how one program ends. A pure state machine without a clock or access to processes: callers report what
/// happened, and it returns the next action.
///
/// If it is not stopped, a program ends when its leader has exited and its output is drained. Processes still alive in
/// its group are then killed, and after a failure all that it has started, in any group. If it is stopped, all
/// processes that it has started get a signal and a grace period, then KILL; its output is drained after that. In
/// either case the leader is reaped last: until then it holds the group's id.
struct Ending {
  enum Action: Hashable {
    /// Wait for the next event, or until the time.
    case wait(until: Duration?)
    /// Send the policy's signal, and CONT, to all processes that the program has started.
    case terminate
    case kill(Scope)
    /// Check whether any process but the leader is alive, and report it to `recordOthers` before the next call.
    case check(Scope)
    case finish
  }

  /// The processes to kill or look for.
  enum Scope: Hashable {
    /// The members of its group.
    case group
    /// All processes that it has started, including those that have left the group.
    case everything
  }

  /// The delay between a success and the killing of processes in its group: a process that is to create its own session
  /// (`setsid server &`) may be just about to do so when its shell has already exited.
  static let settling = Duration.milliseconds(100)
  /// The time after which killed processes that are still there are given up (uninterruptible sleep).
  static let deathLimit = Duration.seconds(5)

  /// The cause of the stop; `nil` if it was not stopped.
  private(set) var cause: StopCause?
  private(set) var neededKill = false
  private(set) var outputIsOpen = true
  /// Whether the wait for the end of the output was given up.
  private(set) var outputWasHeld = false
  /// Whether processes were alive `deathLimit` after they were killed.
  private(set) var gaveUp = false

  private let keepsLeftovers: Bool
  private let drainLimits: DrainLimits
  private let grace: Duration
  private let timeoutAt: Duration?
  private let stallTimeout: Duration?
  private var level = StopLevel.none
  private var killAt: Duration?
  private var killedAt: Duration?
  private var exitedAt: Duration?
  private var succeeded = false
  private var lastOutput: Duration
  private var others = OtherProcesses()

  /// The state of the other processes after the leader's exit.
  private struct OtherProcesses {
    var goneAt: Duration?
    var checkedAt: Duration?
    var nextCheck = Duration.zero
    var pause = Duration.milliseconds(1)
  }

  /// - Parameter keepsLeftovers: Whether processes that are alive after a success are left alone.
  init(
    startedAt start: Duration, timeout: Duration?, stallTimeout: Duration? = nil, grace: Duration,
    keepsLeftovers: Bool = false, drainLimits: DrainLimits = DrainLimits()
  ) {
    self.grace = grace
    self.drainLimits = drainLimits
    self.stallTimeout = stallTimeout
    self.keepsLeftovers = keepsLeftovers
    timeoutAt = timeout.map { start + $0 }
    lastOutput = start
  }

  mutating func stopRequested(_ level: StopLevel) { self.level = max(self.level, level) }
  mutating func outputArrived(at now: Duration) { lastOutput = now }
  mutating func outputEnded() { outputIsOpen = false }
  mutating func leaderExited(at now: Duration, succeeded: Bool = true) {
    guard exitedAt == nil else { return }
    exitedAt = now
    self.succeeded = succeeded
  }

  mutating func recordOthers(areGone: Bool, at now: Duration) {
    others.checkedAt = now
    if areGone {
      others.goneAt = now
    } else {
      others.nextCheck = now + others.pause
      others.pause = min(others.pause * 2, .milliseconds(500))
    }
  }

  /// Whether the others have been killed; processes found later started after that.
  var hasKilled: Bool { killedAt != nil }

  /// Whether it was not stopped, and its leader has succeeded.
  var endedWell: Bool { cause == nil && succeeded }

  /// The processes to kill: a success leaves processes in their own sessions alone, any other end leaves none.
  private var scope: Scope { endedWell ? .group : .everything }

  mutating func next(at now: Duration) -> Action {
    guard let exitedAt else { return whileRunning(at: now) }
    // A leader that exits before any signal was sent has not been stopped, however close the race was.
    guard cause == nil else {
      return terminateOthers(at: now) ?? drain(since: others.goneAt ?? now, at: now) ?? .finish
    }
    if let wait = drain(since: exitedAt, at: now) { return wait }
    if succeeded, keepsLeftovers { return .finish }
    return terminateOthers(at: now) ?? .finish
  }

  private mutating func whileRunning(at now: Duration) -> Action {
    if cause == nil {
      let limit = nextLimit
      cause = level > .none ? .cancelled : hasPassed(limit?.time, at: now) ? limit?.cause : nil
      guard cause != nil else { return .wait(until: limit?.time) }
      killAt = now + grace
      if level < .now, grace > .zero { return .terminate }
    }
    return killIfDue(at: now) ?? .wait(until: killedAt == nil ? killAt : nil)
  }

  /// The limit that is reached next. A program that has closed its output counts as silent, too.
  private var nextLimit: (time: Duration, cause: StopCause)? {
    let stallAt = stallTimeout.map { lastOutput + $0 }
    if let stallAt, stallAt < timeoutAt ?? stallAt + .nanoseconds(1) { return (stallAt, .stall) }
    return timeoutAt.map { ($0, .timeout) }
  }

  private mutating func killIfDue(at now: Duration) -> Action? {
    let isDue =
      cause == nil
      ? !needsCheck(at: now) && hasSettled(at: now) : level == .now || hasPassed(killAt, at: now)
    guard killedAt == nil, isDue else { return nil }
    killedAt = now
    neededKill = cause != nil
    others.nextCheck = now
    others.pause = .milliseconds(1)
    return .kill(scope)
  }

  /// The next action for the other processes; `nil` once none is left or the rest cannot be killed.
  private mutating func terminateOthers(at now: Duration) -> Action? {
    guard others.goneAt == nil else { return nil }
    if needsCheck(at: now) { return .check(scope) }
    if let kill = killIfDue(at: now) { return kill }
    let limit = killedAt.map { $0 + Self.deathLimit } ?? killAt ?? settledAt
    if killedAt != nil, hasPassed(limit, at: now) {
      others.goneAt = now
      gaveUp = true
      return nil
    }
    return .wait(until: min(others.nextCheck, limit ?? others.nextCheck))
  }

  /// The time from which the rest may be killed, if the program was not stopped; `nil` before the exit.
  private var settledAt: Duration? {
    exitedAt.map { succeeded && level < .now ? $0 + Self.settling : $0 }
  }

  private func hasSettled(at now: Duration) -> Bool { hasPassed(settledAt, at: now) }

  /// Whether to look at the others first: only processes that were seen after the time to settle are killed.
  private func needsCheck(at now: Duration) -> Bool {
    if others.nextCheck <= now { return true }
    guard cause == nil, killedAt == nil, let settledAt, settledAt <= now else { return false }
    return others.checkedAt.map { $0 < settledAt } ?? true
  }

  /// The wait for more output; `nil` once there is none to wait for.
  private mutating func drain(since begin: Duration, at now: Duration) -> Action? {
    guard outputIsOpen, !outputWasHeld else { return nil }
    let end = min(max(lastOutput, begin) + drainLimits.quiet, begin + drainLimits.total)
    if end > now, level < .now { return .wait(until: end) }
    outputWasHeld = true
    return nil
  }

  private func hasPassed(_ time: Duration?, at now: Duration) -> Bool {
    time.map { $0 <= now } ?? false
  }
}
