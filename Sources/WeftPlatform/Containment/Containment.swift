/// The reliability with which the processes that a program has started can be found.
package enum ContainmentLevel: String, Hashable, Sendable, CaseIterable {
  /// Each attempt has its own control group (cgroup v2), which a process cannot leave by a `setsid`, a double fork or a
  /// cleared environment.
  case cgroup
  /// Processes that lose their parents become children of this one (`PR_SET_CHILD_SUBREAPER`), so none gets lost;
  /// parentage or the cookie in the environment shows their attempt.
  case subreaper
  /// Only session, parentage and cookie. A process is not found if it left its session, lost its parents and cleared
  /// its environment before it was first observed.
  case groupAndCookie = "group+cookie"
}

/// Tracks all processes that the programs of one run start, so that all of them can be terminated.
package protocol Containment: AnyObject, Sendable {
  var level: ContainmentLevel { get }
  /// Creates the enclosure for the program of one attempt.
  ///
  /// - Parameter cookie: `NAME=value` entries that the environment of this attempt will have, and of no other.
  func enclose(
    cookie: @escaping @autoclosure @Sendable () -> [String]
  ) throws(SystemError) -> any Enclosure
  /// Creates the container of programs again if it is gone; a spawn that failed for this reason is then tried again.
  ///
  /// - Returns: Whether it was gone and has been created again.
  func restore() -> Bool
  /// Whether `orphans` may find something; cheap.
  var mayHoldOrphans: Bool { get }
  /// The living orphans of attempts that have ended, without those that are to be kept.
  func orphans() -> [ProcessStatus]
  /// Removes everything that was created for the run. Called once, at its end.
  func close()
}

extension Containment {
  package func restore() -> Bool { false }
}

/// The container of the processes of one attempt.
package protocol Enclosure: AnyObject, Sendable {
  /// The directory of the control group that the program is created in, or -1.
  var cgroup: Int32 { get }
  func began(leader: Int32)
  /// Called when other code has reaped the leader, whose id may belong to a different process from now on.
  func lost(leader: Int32)
  /// Whether it is certain, without a search, that only the leader is left.
  var isKnownToBeEmpty: Bool { get }
  /// All living members except the leader.
  func members(besides leader: Int32) -> [ProcessStatus]
  /// Whether a process that was once a member still is one: ids are reused.
  func holds(_ process: ProcessStatus) -> Bool
  /// Kills all members except the leader, as reliably as possible.
  func killAll(besides leader: Int32)
  /// Called when the leader is about to be reaped.
  ///
  /// - Parameter keepsProcesses: Whether the remaining processes are to outlive the run.
  func ended(leader: Int32, keepsProcesses: Bool)
  /// Called if no program was spawned in it.
  func abandoned()
}

/// The kind of containment that is requested.
package enum ContainmentRequest: Hashable, Sendable {
  /// The most reliable one available.
  case automatic
  case exactly(ContainmentLevel)
}

/// The requested containment is not available.
package struct ContainmentError: Error, Hashable, Sendable {
  package let level: ContainmentLevel
  package let message: String
}

/// Creates containments.
package enum Containments {
  /// - Parameters:
  ///   - run: The run's id; part of a directory's name.
  ///   - cookie: The engine's cookie; its hash is the other part of that name.
  ///   - entries: Environment entries of all programs that the engine spawns, and of no others.
  /// - Throws: If the requested level is not available.
  package static func make(
    _ request: ContainmentRequest, run: String, cookie: EngineCookie, entries: [String]
  ) throws(ContainmentError) -> any Containment {
    switch request {
    case .automatic: return automatic(run: run, cookie: cookie, entries: entries)
    case .exactly(.cgroup):
      #if os(Linux)
        do { return try ControlGroupTree(run: run, cookie: cookie) } catch {
          throw ContainmentError(
            level: .cgroup, message: "no control group (cgroup v2) can be created here: \(error)")
        }
      #else
        throw ContainmentError(level: .cgroup, message: "this system has no control groups")
      #endif
    case .exactly(.subreaper):
      guard ChildProcesses.isAdopting else {
        throw ContainmentError(level: .subreaper, message: "this process is not a subreaper")
      }
      return ProcessTracking(.subreaper, runCookie: entries)
    case .exactly(.groupAndCookie): return ProcessTracking(.groupAndCookie, runCookie: entries)
    }
  }

  private static func automatic(
    run: String, cookie: EngineCookie, entries: [String]
  ) -> any Containment {
    #if os(Linux)
      if let tree = try? ControlGroupTree(run: run, cookie: cookie) { return tree }
    #endif
    return ProcessTracking(
      ChildProcesses.isAdopting ? .subreaper : .groupAndCookie, runCookie: entries)
  }
}
