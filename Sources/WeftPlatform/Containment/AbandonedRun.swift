#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the environment of a process says of the run that it belongs to.
package struct RunMembership: Hashable, Sendable {
  package let run: String
  package let engine: ProcessIdentity
  /// The engine's session: a step at the terminal is in it, and so is much that is nobody's.
  package let engineSession: Int32

  package init(run: String, engine: ProcessIdentity, engineSession: Int32) {
    self.run = run
    self.engine = engine
    self.engineSession = engineSession
  }
}

/// A run with processes that are alive, as it can be seen from outside of its engine.
package struct FoundRun: Sendable {
  package let run: String
  /// The engine's process, if it is alive.
  package fileprivate(set) var engine: Int32?
  package fileprivate(set) var processes: [ProcessStatus]
}

/// Finds the processes of runs from outside, by their environments, their parentage and sessions, and by the
/// control groups that were made for them.
package struct RunSearch {
  private let membership: (_ environment: [UInt8]) -> RunMembership?

  package init(membership: @escaping (_ environment: [UInt8]) -> RunMembership?) {
    self.membership = membership
  }

  /// All runs of which something is alive, by id.
  package func runs() -> [String: FoundRun] {
    let processes = ProcessTable.shared.walk().processes.filter { $0.id != getpid() }
    var runs: [String: FoundRun] = [:]
    for (run, members) in byCookie(processes) {
      let engine = members.engine
      let isAlive = ProcessStatus(of: engine.id)?.identity == engine
      runs[run] = FoundRun(
        run: run, engine: isAlive ? engine.id : nil, processes: members.processes)
    }
    #if os(Linux)
      for found in ControlGroupTree.abandoned() {
        var run = runs[found.run] ?? FoundRun(run: found.run, processes: [])
        let known = Set(run.processes.map(\.identity))
        run.processes += found.processes.filter { !known.contains($0.identity) }
        if !run.processes.isEmpty { runs[found.run] = run }
      }
    #endif
    return runs
  }

  /// Takes away what was made for runs of which nothing is alive any more, their engines included.
  package static func clear() {
    #if os(Linux)
      ControlGroupTree.clear()
    #endif
  }

  private func byCookie(
    _ processes: [ProcessStatus]
  ) -> [String: (engine: ProcessIdentity, processes: [ProcessStatus])] {
    var members: [ProcessIdentity: RunMembership] = [:]
    for process in processes where process.isAlive {
      guard let environment = ProcessCookie.environment(of: process.id) else { continue }
      members[process.identity] = membership(environment)
    }
    var found: [String: (engine: ProcessIdentity, processes: [ProcessStatus])] = [:]
    for (run, memberships) in Dictionary(grouping: members.values, by: \.run) {
      let first = memberships[0]
      var lineage = Lineage(engine: first.engine.id, session: first.engineSession)
      // Twice: what descends from who is known by a cookie is found when that is known.
      for _ in 0..<2 { lineage.observe(processes) { members[$0.identity]?.run == run ? 0 : nil } }
      found[run] = (first.engine, lineage.living(in: processes)[0, default: []])
    }
    return found
  }
}
