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
            level: .cgroup, message: "no control group (cgroup v2) can be made here: \(error)")
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
