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

/// Finds processes started by engines that are gone: by the cookie in environments, by parentage and sessions, and by
/// the control groups that were created for them.
package struct RunSearch {
  private let membership: (_ environment: [UInt8]) -> RunMembership?

  package init(membership: @escaping (_ environment: [UInt8]) -> RunMembership?) {
    self.membership = membership
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
    let table = ProcessTable.shared.walk().processes.filter { $0.id != getpid() }
    let cookies = Set(engines.map(\.cookie))
    let members = memberships(in: table).filter {
      $0.value.run == run && cookies.contains($0.value.cookie)
    }
    var (found, kept): ([ProcessStatus], Set<ProcessIdentity>) = ([], [])
    for engine in engines {
      let living = living(of: engine, in: table, members)
      found += living[Owner.run, default: []].filter { ProcessStatus.user(of: $0.id) == geteuid() }
      kept.formUnion(living[Owner.kept, default: []].map(\.identity))
    }
    #if os(Linux)
      found += ControlGroupTree.processes(
        of: Set(engines.map { ControlGroupName(run: run, cookie: $0.cookie) }))
    #endif
    var seen = kept
    return found.filter { seen.insert($0.identity).inserted }
  }

  private enum Owner {
    static let run = 0
    static let kept = 1
  }

  private func living(
    of engine: RecordedEngine, in table: [ProcessStatus],
    _ members: [ProcessIdentity: RunMembership]
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

  /// The memberships that the environments of the calling user's processes name.
  private func memberships(in table: [ProcessStatus]) -> [ProcessIdentity: RunMembership] {
    var members: [ProcessIdentity: RunMembership] = [:]
    for process in table where process.isAlive {
      guard let environment = ProcessCookie.environment(of: process.id),
        let member = membership(environment), ProcessStatus.user(of: process.id) == geteuid(),
        process.exists
      else { continue }
      members[process.identity] = member
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
    let table = ProcessTable.shared.walk().processes.filter { $0.id != getpid() }
    let members = memberships(in: table)
    var claims: [String: RunClaim] = [:]
    for process in table {
      guard let member = members[process.identity] else { continue }
      claims[member.run, default: RunClaim(run: member.run)].processes.append(process)
      if ProcessStatus(of: member.engine.id)?.identity == member.engine {
        claims[member.run]?.isEngineAlive = true
      }
    }
    #if os(Linux)
      for (name, processes) in ControlGroupTree.abandoned() where !processes.isEmpty {
        let known = Set(claims[name.run]?.processes.map(\.identity) ?? [])
        claims[name.run, default: RunClaim(run: name.run)].processes +=
          processes.filter { !known.contains($0.identity) }
      }
    #endif
    return claims.values.sorted { $0.run < $1.run }
  }
}
