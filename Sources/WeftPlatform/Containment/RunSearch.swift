#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One attempt of a step, as named by the environment of its program.
package struct AttemptName: Hashable, Sendable {
  package let step: String
  package let number: Int

  package init(step: String, number: Int) {
    self.step = step
    self.number = number
  }
}

/// The engine, run and attempt that the environment of a process names. Any process that knows the cookie can have such
/// an environment.
package struct RunMembership: Hashable, Sendable {
  package let run: String
  package let engine: ProcessIdentity
  /// The engine's session: it contains a step at the terminal, but also many unrelated processes.
  package let engineSession: Int32
  package let cookie: EngineCookie
  package let attempt: AttemptName?

  package init(
    run: String, engine: ProcessIdentity, engineSession: Int32, cookie: EngineCookie,
    attempt: AttemptName?
  ) {
    self.run = run
    self.engine = engine
    self.engineSession = engineSession
    self.cookie = cookie
    self.attempt = attempt
  }
}

/// One engine of a run, as described by the run's journal.
package struct RecordedEngine: Hashable, Sendable {
  package var cookie: EngineCookie
  package var process: ProcessIdentity
  /// ``Machine/bootID`` of the boot that the process's start is counted from.
  package var bootID: String
  /// The attempts whose processes are to be kept: `"leftovers": "keep"`, and the program has succeeded.
  package var kept: Set<AttemptName> = []

  package init(cookie: EngineCookie, process: ProcessIdentity, bootID: String) {
    self.cookie = cookie
    self.process = process
    self.bootID = bootID
  }
}

/// One look at all processes, for those started by engines that are gone: by the cookie in environments, by parentage
/// and sessions, and by the control groups that were created for them.
package struct RunSearch {
  private let table: [ProcessStatus]
  /// The processes of the calling user that name a run, by that run.
  private let members: [String: [ProcessIdentity: RunMembership]]
  #if os(Linux)
    private let groups: [ControlGroupName: [ProcessStatus]]
  #endif

  /// Looks at all processes that exist now.
  package init(membership: (_ environment: [UInt8]) -> RunMembership?) {
    table = ProcessTable.shared.walk().processes.filter { $0.id != getpid() }
    members = RunSearch.memberships(in: table, membership)
    #if os(Linux)
      groups = ControlGroupTree.abandoned()
    #endif
  }

  /// Whether any process or control group names the run. If none does, no process of it is alive.
  package func names(_ run: String) -> Bool {
    #if os(Linux)
      if groups.contains(where: { $0.key.run == run && !$0.value.isEmpty }) { return true }
    #endif
    return members[run] != nil
  }

  /// The living processes that these engines of a run have started, without those that are to be kept.
  ///
  /// Includes only processes of the calling user, none older than its engine, and none whose environment names a
  /// different engine than the journal does.
  package func processes(
    of run: String, startedBy engines: [RecordedEngine]
  ) -> [ProcessStatus] {
    let engines = engines.filter { $0.bootID == Machine.bootID }
    guard !engines.isEmpty else { return [] }
    let cookies = Set(engines.map(\.cookie))
    let members = members[run, default: [:]].filter { cookies.contains($0.value.cookie) }
    var (found, kept): ([ProcessStatus], Set<ProcessIdentity>) = ([], [])
    for engine in engines {
      let living = living(of: engine, members)
      found += living[Owner.run, default: []].filter { ProcessStatus.user(of: $0.id) == geteuid() }
      kept.formUnion(living[Owner.kept, default: []].map(\.identity))
    }
    #if os(Linux)
      for cookie in cookies {
        found += groups[ControlGroupName(run: run, cookie: cookie), default: []]
      }
    #endif
    var seen = kept
    return found.filter { seen.insert($0.identity).inserted }
  }

  private enum Owner {
    static let run = 0
    static let kept = 1
  }

  private func living(
    of engine: RecordedEngine, _ members: [ProcessIdentity: RunMembership]
  ) -> [ProcessTree.AttemptNumber: [ProcessStatus]] {
    let own = members.filter { identity, member in
      member.cookie == engine.cookie && member.engine == engine.process
        && identity.startTicks >= engine.process.startTicks
    }
    guard let session = own.values.first?.engineSession else { return [:] }
    var processTree = ProcessTree(engine: engine.process.id, session: session)
    // Twice: descendants of a process that is known by its cookie are found once that process is known.
    for _ in 0..<2 {
      processTree.observe(table) { process in
        own[process.identity].map { member in
          member.attempt.map(engine.kept.contains) == true ? Owner.kept : Owner.run
        }
      }
    }
    return processTree.living(in: table)
  }

  /// The memberships that the environments of the calling user's processes name, by their runs.
  private static func memberships(
    in table: [ProcessStatus], _ membership: (_ environment: [UInt8]) -> RunMembership?
  ) -> [String: [ProcessIdentity: RunMembership]] {
    var members: [String: [ProcessIdentity: RunMembership]] = [:]
    for process in table where process.isAlive {
      guard let environment = ProcessCookie.environment(of: process.id),
        let member = membership(environment), ProcessStatus.user(of: process.id) == geteuid(),
        process.exists
      else { continue }
      members[member.run, default: [:]][process.identity] = member
    }
    return members
  }

  /// Removes control groups that were created for runs of the calling user, contain no living process, and whose
  /// engines are gone.
  package static func clear() {
    #if os(Linux)
      ControlGroupTree.clear()
    #endif
  }
}

// MARK: Runs without a journal

/// A run that processes claim to belong to, without a journal that confirms it.
package struct RunClaim: Sendable {
  package let run: String
  /// Whether one of the engines that its processes name is alive.
  package fileprivate(set) var isEngineAlive = false
  package fileprivate(set) var processes: [ProcessStatus] = []
}

extension RunSearch {
  /// All runs named by processes or control groups of the calling user, by id. Enough to report them, but not to act on
  /// them.
  package func claims() -> [RunClaim] {
    var claims: [String: RunClaim] = [:]
    for (run, members) in members {
      var claim = RunClaim(run: run)
      claim.processes = table.filter { members[$0.identity] != nil }
      claim.isEngineAlive = members.values.contains {
        ProcessStatus(of: $0.engine.id)?.identity == $0.engine
      }
      claims[run] = claim
    }
    #if os(Linux)
      for (name, processes) in groups where !processes.isEmpty {
        let known = Set(claims[name.run]?.processes.map(\.identity) ?? [])
        claims[name.run, default: RunClaim(run: name.run)].processes +=
          processes.filter { !known.contains($0.identity) }
      }
    #endif
    return claims.values.sorted { $0.run < $1.run }
  }
}
