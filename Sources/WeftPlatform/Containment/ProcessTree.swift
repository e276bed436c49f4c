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
        if process.id == engine { return .nobody }
        if let owner = owner(of: process) { return .attempt(owner) }
        return nil
      }
    }
    for index in processes.indices {
      guard let owner = finder.owner(of: index) ?? cookie(processes[index]) else { continue }
      note(processes[index], of: owner)
    }
    noteSessions(among: processes)
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

  private mutating func note(_ process: ProcessStatus, of owner: AttemptNumber) {
    guard leaders[process.id] == nil else { return }
    known[process.identity] = owner
  }

  /// Adds sessions. A process joins a session by being born in it or by creating it, so later members descend from the
  /// current ones.
  private mutating func noteSessions(among processes: [ProcessStatus]) {
    guard !known.isEmpty else { return }
    let vouched = Set(
      processes.filter { known[$0.identity] != nil }.map(\.session))
    let open = vouched.filter {
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
    var vouched: Set<Int32> = []
    for process in processes where known[process.identity] != nil {
      vouched.insert(process.session)
    }
    sessions = sessions.filter { vouched.contains($0.key) }
  }
}

/// Follows parents up to a process whose attempt is known.
private struct OwnerFinder {
  enum Finding {
    case attempt(ProcessTree.AttemptNumber)
    case nobody
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
    var found = Finding.nobody
    while let current = next {
      if let finding = findings[current] ?? ask(processes[current]) {
        path.append(current)
        found = finding
        break
      }
      path.append(current)
      // A table is not a snapshot of one instant: ids may have been reused, so that parents form a cycle.
      findings[current] = .nobody
      next = indices[processes[current].parent]
    }
    for passed in path { findings[passed] = found }
  }
}
