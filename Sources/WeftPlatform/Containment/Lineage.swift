/// Whose a process is, where no control group tells: by parentage seen while its parents were alive, then
/// by the cookie in its environment.
///
/// It sees the system only through the process tables that it is shown. What it has once told apart it
/// remembers by id and start, so that a process stays known after its parents have gone.
struct Lineage {
  /// An attempt's leader that is not yet reaped: nobody else can have its id.
  private var leaders: [Int32: AttemptNumber] = [:]
  private var known: [ProcessIdentity: AttemptNumber] = [:]
  /// Sessions in which only an attempt's processes can be: a known process has made it, or all that is alive in
  /// it is known. One known process is not enough: a daemon may start a job for a step, in its own session.
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

  /// The leader is about to be reaped: from then on its id can be anyone's.
  mutating func ended(leader: Int32) { leaders[leader] = nil }

  /// Finds out whose each process is, as far as can be told.
  ///
  /// - Parameter cookie: Reads the attempt from a process's environment; asked only of those that nothing
  ///   else tells of.
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

  /// The living processes of each attempt among those shown, leaders left out.
  func living(in processes: [ProcessStatus]) -> [AttemptNumber: [ProcessStatus]] {
    var living: [AttemptNumber: [ProcessStatus]] = [:]
    for process in processes where process.isAlive && leaders[process.id] == nil {
      if let owner = owner(of: process) { living[owner, default: []].append(process) }
    }
    return living
  }

  /// Whose a process is known to be.
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

  /// A process comes into a session by its birth or by making it, so those that come later descend from what is
  /// there now.
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
    // A session's id, too, is used anew once all of it is gone; one who is known vouches for it.
    var vouched: Set<Int32> = []
    for process in processes where known[process.identity] != nil {
      vouched.insert(process.session)
    }
    sessions = sessions.filter { vouched.contains($0.key) }
  }
}

/// Follows parents upwards until somebody is found whose owner is known.
private struct OwnerFinder {
  enum Finding {
    case attempt(Lineage.AttemptNumber)
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

  func owner(of index: Int) -> Lineage.AttemptNumber? {
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
      // A table is not of one instant: ids may have been reused in it so that parents run in a circle.
      findings[current] = .nobody
      next = indices[processes[current].parent]
    }
    for passed in path { findings[passed] = found }
  }
}
