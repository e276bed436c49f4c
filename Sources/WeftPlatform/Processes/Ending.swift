/// Decides how one program comes to its end. It has no clock and touches no process: it is told what
/// happened and says what is to be done now.
///
/// Left alone, a program ends when its leader has exited and its output is drained; what is then alive in
/// its group is killed, and after a failure all that it has started, wherever that went. Stopped, all that
/// it has started gets a signal and a grace, then KILL; its output is drained after that. In either case
/// the leader is reaped last: until then it holds the group's id.
struct Ending {
  enum Action: Hashable {
    /// Nothing to do before something happens, or the time comes.
    case wait(until: Duration?)
    /// Send the policy's signal, and CONT, to all that the program has started.
    case terminate
    case kill(Scope)
    /// See whether any process but the leader is alive, and tell `othersSeen` before going on.
    case look(Scope)
    case finish
  }

  /// Who is ended with the program, or looked for.
  enum Scope: Hashable {
    /// The members of its group.
    case group
    /// All that it has started, also what has left the group.
    case everything
  }

  /// Output that stays silent for so long is taken to be complete, although someone holds it open.
  static let quiet = Duration.milliseconds(100)
  /// How long after a success what is alive in the group is looked at before it is killed: a process that is to
  /// make a session of its own (`setsid server &`) may be about to do so when its shell has exited already.
  static let settling = Duration.milliseconds(100)
  /// Output that goes on is read for so long.
  static let drainLimit = Duration.seconds(2)
  /// Killed processes that are not gone after so long are given up (uninterruptible sleep).
  static let deathLimit = Duration.seconds(5)

  /// Who stopped it, once somebody has.
  private(set) var cause: StopCause?
  private(set) var neededKill = false
  private(set) var outputIsOpen = true
  /// Whether waiting for the output's end was given up.
  private(set) var outputWasHeld = false
  /// Whether some were alive `deathLimit` after they were killed.
  private(set) var gaveUp = false

  private let keepsLeftovers: Bool
  private let grace: Duration
  private let timeoutAt: Duration?
  private let stallTimeout: Duration?
  private var level = StopLevel.none
  private var killAt: Duration?
  private var killedAt: Duration?
  private var exitedAt: Duration?
  private var succeeded = false
  private var lastOutput: Duration
  private var others = Others()

  /// What is known, after the leader's exit, about the rest.
  private struct Others {
    var goneAt: Duration?
    var lookedAt: Duration?
    var nextLook = Duration.zero
    var pause = Duration.milliseconds(1)
  }

  /// - Parameter keepsLeftovers: What is alive after a success is left alone.
  init(
    startedAt start: Duration, timeout: Duration?, stallTimeout: Duration? = nil, grace: Duration,
    keepsLeftovers: Bool = false
  ) {
    self.grace = grace
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

  mutating func othersSeen(areGone: Bool, at now: Duration) {
    others.lookedAt = now
    if areGone {
      others.goneAt = now
    } else {
      others.nextLook = now + others.pause
      others.pause = min(others.pause * 2, .milliseconds(500))
    }
  }

  /// Whether the others have been killed already, and who is still found came later.
  var hasKilled: Bool { killedAt != nil }

  /// Nobody stopped it, and its leader has succeeded.
  var endedWell: Bool { cause == nil && succeeded }

  /// A success leaves alone what has made a session of its own; everything else ends all there is.
  private var scope: Scope { endedWell ? .group : .everything }

  mutating func next(at now: Duration) -> Action {
    guard let exitedAt else { return whileRunning(at: now) }
    // Who exits before anything was sent has not been stopped, however close the race was.
    guard cause == nil else {
      return endOthers(at: now) ?? drain(since: others.goneAt ?? now, at: now) ?? .finish
    }
    if let wait = drain(since: exitedAt, at: now) { return wait }
    if succeeded, keepsLeftovers { return .finish }
    return endOthers(at: now) ?? .finish
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

  /// What will end it if nothing else happens before. A program that has closed its output is silent, too.
  private var nextLimit: (time: Duration, cause: StopCause)? {
    let stallAt = stallTimeout.map { lastOutput + $0 }
    if let stallAt, stallAt < timeoutAt ?? stallAt + .nanoseconds(1) { return (stallAt, .stall) }
    return timeoutAt.map { ($0, .timeout) }
  }

  private mutating func killIfDue(at now: Duration) -> Action? {
    let isDue =
      cause == nil
      ? !needsLook(at: now) && hasSettled(at: now) : level == .now || hasPassed(killAt, at: now)
    guard killedAt == nil, isDue else { return nil }
    killedAt = now
    neededKill = cause != nil
    others.nextLook = now
    others.pause = .milliseconds(1)
    return .kill(scope)
  }

  /// `nil` once no other process is left, or what is left cannot be killed.
  private mutating func endOthers(at now: Duration) -> Action? {
    guard others.goneAt == nil else { return nil }
    if needsLook(at: now) { return .look(scope) }
    if let kill = killIfDue(at: now) { return kill }
    let limit = killedAt.map { $0 + Self.deathLimit } ?? killAt ?? settledAt
    if killedAt != nil, hasPassed(limit, at: now) {
      others.goneAt = now
      gaveUp = true
      return nil
    }
    return .wait(until: min(others.nextLook, limit ?? others.nextLook))
  }

  /// When what is left after an end that nobody asked for may be killed; `nil` before the exit.
  private var settledAt: Duration? {
    exitedAt.map { succeeded && level < .now ? $0 + Self.settling : $0 }
  }

  private func hasSettled(at now: Duration) -> Bool { hasPassed(settledAt, at: now) }

  /// What is killed was seen after the moment to settle, not before.
  private func needsLook(at now: Duration) -> Bool {
    if others.nextLook <= now { return true }
    guard cause == nil, killedAt == nil, let settledAt, settledAt <= now else { return false }
    return others.lookedAt.map { $0 < settledAt } ?? true
  }

  /// `nil` once there is no more output to wait for.
  private mutating func drain(since begin: Duration, at now: Duration) -> Action? {
    guard outputIsOpen, !outputWasHeld else { return nil }
    let end = min(max(lastOutput, begin) + Self.quiet, begin + Self.drainLimit)
    if end > now, level < .now { return .wait(until: end) }
    outputWasHeld = true
    return nil
  }

  private func hasPassed(_ time: Duration?, at now: Duration) -> Bool {
    time.map { $0 <= now } ?? false
  }
}
