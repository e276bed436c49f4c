import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds what a run's programs have started by looking at all processes: by session and group, by
/// parentage, by cookie; and, in a subreaper, by its own children.
final class ProcessTracking: Containment {
  let level: ContainmentLevel
  private let state: Mutex<State>

  fileprivate struct State {
    var lineage: Lineage
    var made = 0
    /// The attempts under way.
    var cookies: [Lineage.AttemptNumber: @Sendable () -> [String]] = [:]
    /// Those that have ended and whose processes are to outlive the run.
    var kept: [Lineage.AttemptNumber: ProcessCookie] = [:]
    let run: ProcessCookie
    /// What had started before this process can be of no run of its.
    let earliestStart = ProcessStatus(of: getpid())?.identity.startTicks ?? 0
    /// By attempt, as the last walk that was observed has seen them.
    var living: [Lineage.AttemptNumber: [ProcessStatus]] = [:]
    var observedWalk = 0
    /// Processes that were asked for their environment, and did not have the run's cookie.
    var strangers: Set<ProcessIdentity> = []
  }

  /// What has the run's cookie, and belongs to no attempt that goes on.
  private static let formerAttempt = 0

  /// - Parameter cookie: Entries of the environments of all programs of the run, and of no other.
  init(_ level: ContainmentLevel, runCookie cookie: [String]) {
    self.level = level
    let lineage = Lineage(engine: getpid(), session: getsid(0))
    state = Mutex(State(lineage: lineage, run: ProcessCookie(cookie)))
  }

  func enclose(
    cookie: @escaping @autoclosure @Sendable () -> [String]
  ) throws(SystemError) -> any Enclosure {
    let number = state.withLock { state in
      state.made += 1
      state.cookies[state.made] = cookie
      return state.made
    }
    return TrackedEnclosure(number, by: self)
  }

  fileprivate func began(_ attempt: Lineage.AttemptNumber, leader: Int32) {
    state.withLock { $0.lineage.began(attempt, leader: leader) }
  }

  fileprivate func lost(leader: Int32) { state.withLock { $0.lineage.ended(leader: leader) } }

  fileprivate func ended(_ attempt: Lineage.AttemptNumber, leader: Int32, keepsRest: Bool) {
    state.withLock { state in
      state.lineage.ended(leader: leader)
      let cookie = state.cookies.removeValue(forKey: attempt)
      if keepsRest, let cookie { state.kept[attempt] = ProcessCookie(cookie()) }
    }
  }

  fileprivate func abandoned(_ attempt: Lineage.AttemptNumber) {
    state.withLock { _ = $0.cookies.removeValue(forKey: attempt) }
  }

  fileprivate func members(
    of attempt: Lineage.AttemptNumber, besides leader: Int32
  ) -> [ProcessStatus] {
    let walk = ProcessTable.shared.walk()
    return state.withLock { state in
      state.observe(walk)
      return state.living[attempt, default: []].filter { $0.id != leader }
    }
  }

  // With a subreaper, nobody is lost who is not a child or a child's child of this process.
  var mayHoldStrays: Bool { level != .subreaper || ChildProcesses.exist }

  func strays() -> [ProcessStatus] {
    let walk = ProcessTable.shared.walk()
    let processes = walk.processes
    return state.withLock { state in
      state.observe(walk)
      let isKept = state.kept
      let ownChildren = level == .subreaper ? ChildProcesses.orphansOfSteps(among: processes) : []
      return processes.filter { process in
        guard process.isAlive, !state.lineage.isLeader(process.id) else { return false }
        guard let owner = state.lineage.owner(of: process) else {
          return ownChildren.contains(process.identity)
        }
        return isKept[owner] == nil && state.cookies[owner] == nil
      }
    }
  }

  func close() {}
}

extension ProcessTracking.State {
  /// Once for each walk, however many ask: a thousand programs may be ended at the same time.
  mutating func observe(_ walk: ProcessTable.Walk) {
    guard walk.number > observedWalk else { return }
    observedWalk = walk.number
    find(in: walk.processes)
    living = lineage.living(in: walk.processes)
  }

  private mutating func find(in processes: [ProcessStatus]) {
    var strangers = strangers
    let (cookies, kept, run, earliestStart) = (cookies, kept, run, earliestStart)
    // Put into words only when somebody is found who may have one: that is rare, and attempts are many.
    var spelled: [(attempt: Lineage.AttemptNumber, cookie: ProcessCookie)]?
    lineage.observe(processes) { process in
      guard process.isAlive, process.identity.startTicks >= earliestStart,
        !strangers.contains(process.identity)
      else { return nil }
      guard let environment = ProcessCookie.environment(of: process.id) else { return nil }
      guard run.isIn(environment) else {
        // An empty one may be that of a program on its way in.
        if !environment.isEmpty { strangers.insert(process.identity) }
        return nil
      }
      let underWay = spelled ?? cookies.map { ($0, ProcessCookie($1())) }
      spelled = underWay
      for (attempt, cookie) in underWay where cookie.isIn(environment) { return attempt }
      for (attempt, cookie) in kept where cookie.isIn(environment) { return attempt }
      return ProcessTracking.formerAttempt
    }
    self.strangers = strangers.intersection(processes.map(\.identity))
  }
}

/// One attempt, told apart from the others by looking.
private final class TrackedEnclosure: Enclosure {
  private let attempt: Lineage.AttemptNumber
  private let tracking: ProcessTracking

  init(_ attempt: Lineage.AttemptNumber, by tracking: ProcessTracking) {
    self.attempt = attempt
    self.tracking = tracking
  }

  let cgroup: Int32 = -1
  func began(leader: Int32) { tracking.began(attempt, leader: leader) }
  func lost(leader: Int32) { tracking.lost(leader: leader) }
  let isKnownToBeEmpty = false

  func members(besides leader: Int32) -> [ProcessStatus] {
    tracking.members(of: attempt, besides: leader)
  }

  func holds(_ process: ProcessStatus) -> Bool { process.isStillThere }

  func killAll(besides leader: Int32) {
    Sweep.kill { members(besides: leader) }
  }

  func abandoned() { tracking.abandoned(attempt) }

  func ended(leader: Int32, keepsRest: Bool) {
    tracking.ended(attempt, leader: leader, keepsRest: keepsRest)
  }
}
