import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Finds the processes that a run's programs have started by searching all processes: by session and group, by
/// parentage, by cookie; and, in a subreaper, among its own children.
final class ProcessTracking: Containment {
  let level: ContainmentLevel
  private let state: Mutex<State>

  fileprivate struct State {
    var processTree: ProcessTree
    var made = 0
    /// The attempts under way.
    var cookies: [ProcessTree.AttemptNumber: @Sendable () -> [String]] = [:]
    /// Ended attempts whose processes are to outlive the run.
    var kept: [ProcessTree.AttemptNumber: ProcessCookie] = [:]
    let run: ProcessCookie
    /// A process that started before this one cannot belong to its runs.
    let earliestStart = ProcessStatus(of: getpid())?.identity.startTicks ?? 0
    /// Living processes by attempt, from the last walk that was observed.
    var living: [ProcessTree.AttemptNumber: [ProcessStatus]] = [:]
    var observedWalk = 0
    /// Processes whose environment was read and did not contain the run's cookie.
    var strangers: Set<ProcessIdentity> = []
  }

  /// The attempt number of processes that have the run's cookie and belong to no attempt under way.
  private static let formerAttempt = 0

  /// - Parameter cookie: Environment entries of all programs of the run, and of no others.
  init(_ level: ContainmentLevel, runCookie cookie: [String]) {
    self.level = level
    let processTree = ProcessTree(engine: getpid(), session: getsid(0))
    state = Mutex(State(processTree: processTree, run: ProcessCookie(cookie)))
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

  fileprivate func began(_ attempt: ProcessTree.AttemptNumber, leader: Int32) {
    state.withLock { $0.processTree.began(attempt, leader: leader) }
  }

  fileprivate func lost(leader: Int32) { state.withLock { $0.processTree.ended(leader: leader) } }

  fileprivate func ended(_ attempt: ProcessTree.AttemptNumber, leader: Int32, keepsRest: Bool) {
    state.withLock { state in
      state.processTree.ended(leader: leader)
      let cookie = state.cookies.removeValue(forKey: attempt)
      if keepsRest, let cookie { state.kept[attempt] = ProcessCookie(cookie()) }
    }
  }

  fileprivate func abandoned(_ attempt: ProcessTree.AttemptNumber) {
    state.withLock { _ = $0.cookies.removeValue(forKey: attempt) }
  }

  fileprivate func members(
    of attempt: ProcessTree.AttemptNumber, besides leader: Int32
  ) -> [ProcessStatus] {
    let walk = ProcessTable.shared.walk()
    return state.withLock { state in
      state.observe(walk)
      return state.living[attempt, default: []].filter { $0.id != leader }
    }
  }

  // With a subreaper, every orphan is a descendant of this process.
  var mayHoldStrays: Bool { level != .subreaper || ChildProcesses.exist }

  func orphans() -> [ProcessStatus] {
    let walk = ProcessTable.shared.walk()
    let processes = walk.processes
    return state.withLock { state in
      state.observe(walk)
      let isKept = state.kept
      let ownChildren = level == .subreaper ? ChildProcesses.orphansOfSteps(among: processes) : []
      return processes.filter { process in
        guard process.isAlive, !state.processTree.isLeader(process.id) else { return false }
        guard let owner = state.processTree.owner(of: process) else {
          return ownChildren.contains(process.identity)
        }
        return isKept[owner] == nil && state.cookies[owner] == nil
      }
    }
  }

  func close() {}
}

extension ProcessTracking.State {
  /// Observes each walk once, however many callers there are: a thousand programs may be ended at the same time.
  mutating func observe(_ walk: ProcessTable.Walk) {
    guard walk.number > observedWalk else { return }
    observedWalk = walk.number
    find(in: walk.processes)
    living = processTree.living(in: walk.processes)
  }

  private mutating func find(in processes: [ProcessStatus]) {
    var strangers = strangers
    let (cookies, kept, run, earliestStart) = (cookies, kept, run, earliestStart)
    // Built only when a process is found that may have a cookie: that is rare, and there may be many attempts.
    var spelled: [(attempt: ProcessTree.AttemptNumber, cookie: ProcessCookie)]?
    processTree.observe(processes) { process in
      guard process.isAlive, process.identity.startTicks >= earliestStart,
        !strangers.contains(process.identity)
      else { return nil }
      guard let environment = ProcessCookie.environment(of: process.id) else { return nil }
      guard run.isIn(environment) else {
        // An empty environment may be that of a program still in its execve.
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

/// An attempt whose processes are found by searching.
private final class TrackedEnclosure: Enclosure {
  private let attempt: ProcessTree.AttemptNumber
  private let tracking: ProcessTracking

  init(_ attempt: ProcessTree.AttemptNumber, by tracking: ProcessTracking) {
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
