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
    var foreignProcesses: Set<ProcessIdentity> = []
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

  fileprivate func ended(_ attempt: ProcessTree.AttemptNumber, leader: Int32, keepsProcesses: Bool)
  {
    state.withLock { state in
      state.processTree.ended(leader: leader)
      let cookie = state.cookies.removeValue(forKey: attempt)
      if keepsProcesses, let cookie { state.kept[attempt] = ProcessCookie(cookie()) }
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
  var mayHoldOrphans: Bool { level != .subreaper || ChildProcesses.exist }

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
    var foreignProcesses = foreignProcesses
    let (cookies, kept, run, earliestStart) = (cookies, kept, run, earliestStart)
    // Built only when a process is found that may have a cookie: that is rare, and there may be many attempts.
    var spelled: [(attempt: ProcessTree.AttemptNumber, cookie: ProcessCookie)]?
    processTree.observe(processes) { process in
      guard process.isAlive, process.identity.startTicks >= earliestStart,
        !foreignProcesses.contains(process.identity)
      else { return nil }
      guard let environment = ProcessCookie.environment(of: process.id) else { return nil }
      guard run.isIn(environment) else {
        // An empty environment may be that of a program still in its execve.
        if !environment.isEmpty { foreignProcesses.insert(process.identity) }
        return nil
      }
      let underWay = spelled ?? cookies.map { ($0, ProcessCookie($1())) }
      spelled = underWay
      for (attempt, cookie) in underWay where cookie.isIn(environment) { return attempt }
      for (attempt, cookie) in kept where cookie.isIn(environment) { return attempt }
      return ProcessTracking.formerAttempt
    }
    self.foreignProcesses = foreignProcesses.intersection(processes.map(\.identity))
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

  func holds(_ process: ProcessStatus) -> Bool { process.exists }

  func killAll(besides leader: Int32) {
    Sweep.kill { members(besides: leader) }
  }

  func abandoned() { tracking.abandoned(attempt) }

  func ended(leader: Int32, keepsProcesses: Bool) {
    tracking.ended(attempt, leader: leader, keepsProcesses: keepsProcesses)
  }
}

/// The attempts that processes belong to, for systems without control groups: found by parentage observed while the
/// parents were alive, otherwise by the cookie in the environment.
///
/// It sees the system only through the process tables that it is given. It remembers its findings by id and start time,
/// so that a process stays known after its parents have gone.
struct ProcessTree {
  /// Leaders of attempts that are not yet reaped: no other process can have their ids.
  private var leaders: [Int32: AttemptNumber] = [:]
  private var known: [ProcessIdentity: AttemptNumber] = [:]
  /// Sessions that contain only processes of one attempt: a known process created the session, or all living processes
  /// in it are known. A single known process is not enough: a daemon may start a job for a step, in its own session.
  private var sessions: [Int32: AttemptNumber] = [:]
  /// The engine's own process and session, which belong to no attempt.
  private let engine: Int32
  private let engineSession: Int32

  typealias AttemptNumber = Int

  init(engine: Int32, session: Int32) {
    self.engine = engine
    engineSession = session
  }

  mutating func began(_ attempt: AttemptNumber, leader: Int32) { leaders[leader] = attempt }

  /// Forgets a leader that is about to be reaped: from then on its id can belong to any process.
  mutating func ended(leader: Int32) { leaders[leader] = nil }

  /// Finds the attempt of each process, as far as possible.
  ///
  /// - Parameter cookie: Reads the attempt from a process's environment; called only for processes whose attempt is not
  ///   found otherwise.
  mutating func observe(
    _ processes: [ProcessStatus], cookie: (ProcessStatus) -> AttemptNumber?
  ) {
    var finder = OwnerFinder(processes)
    forget(allBut: processes)
    for index in processes.indices {
      finder.resolve(index) { process in
        if process.id == engine { return .noOwner }
        if let owner = owner(of: process) { return .attempt(owner) }
        return nil
      }
    }
    for index in processes.indices {
      guard let owner = finder.owner(of: index) ?? cookie(processes[index]) else { continue }
      record(processes[index], of: owner)
    }
    recordSessions(among: processes)
  }

  /// The living processes of each attempt among `processes`, without leaders.
  func living(in processes: [ProcessStatus]) -> [AttemptNumber: [ProcessStatus]] {
    var living: [AttemptNumber: [ProcessStatus]] = [:]
    for process in processes where process.isAlive && leaders[process.id] == nil {
      if let owner = owner(of: process) { living[owner, default: []].append(process) }
    }
    return living
  }

  /// The attempt that a process is known to belong to.
  func owner(of process: ProcessStatus) -> AttemptNumber? {
    if let owner = known[process.identity] ?? leaders[process.id] { return owner }
    if let owner = leaders[process.group] ?? leaders[process.session] { return owner }
    return sessions[process.session]
  }

  func isLeader(_ id: Int32) -> Bool { leaders[id] != nil }

  private mutating func record(_ process: ProcessStatus, of owner: AttemptNumber) {
    guard leaders[process.id] == nil else { return }
    known[process.identity] = owner
  }

  /// Adds sessions. A process joins a session by being born in it or by creating it, so later members descend from the
  /// current ones.
  private mutating func recordSessions(among processes: [ProcessStatus]) {
    guard !known.isEmpty else { return }
    let verified = Set(
      processes.filter { known[$0.identity] != nil }.map(\.session))
    let open = verified.filter {
      $0 != engineSession && leaders[$0] == nil && sessions[$0] == nil
    }
    guard !open.isEmpty else { return }
    let members = Dictionary(
      grouping: processes.filter { open.contains($0.session) }, by: \.session)
    for (session, members) in members {
      if let maker = members.first(where: { $0.id == session }) {
        sessions[session] = known[maker.identity]
        if sessions[session] != nil { continue }
      }
      let owners = members.filter(\.isAlive).map { known[$0.identity] }
      if let owner = owners.first, owner != nil, owners.allSatisfy({ $0 == owner }) {
        sessions[session] = owner
      }
    }
  }

  private mutating func forget(allBut processes: [ProcessStatus]) {
    guard !known.isEmpty || !sessions.isEmpty else { return }
    let present = Set(processes.map(\.identity))
    known = known.filter { present.contains($0.key) }
    // The id of a session is reused, too, once the session is empty; a known process in it shows that it still exists.
    var verified: Set<Int32> = []
    for process in processes where known[process.identity] != nil {
      verified.insert(process.session)
    }
    sessions = sessions.filter { verified.contains($0.key) }
  }
}

/// Follows parents up to a process whose attempt is known.
private struct OwnerFinder {
  enum Finding {
    case attempt(ProcessTree.AttemptNumber)
    case noOwner
  }

  private let processes: [ProcessStatus]
  private var indices: [Int32: Int] = [:]
  private var findings: [Finding?]

  init(_ processes: [ProcessStatus]) {
    self.processes = processes
    findings = Array(repeating: nil, count: processes.count)
    indices.reserveCapacity(processes.count)
    for (index, process) in processes.enumerated() { indices[process.id] = index }
  }

  func owner(of index: Int) -> ProcessTree.AttemptNumber? {
    guard case .attempt(let owner) = findings[index] else { return nil }
    return owner
  }

  mutating func resolve(_ index: Int, _ ask: (ProcessStatus) -> Finding?) {
    var path: [Int] = []
    var next: Int? = index
    var found = Finding.noOwner
    while let current = next {
      if let finding = findings[current] ?? ask(processes[current]) {
        path.append(current)
        found = finding
        break
      }
      path.append(current)
      // A table is not a snapshot of one instant: ids may have been reused, so that parents form a cycle.
      findings[current] = .noOwner
      next = indices[processes[current].parent]
    }
    for passed in path { findings[passed] = found }
  }
}
