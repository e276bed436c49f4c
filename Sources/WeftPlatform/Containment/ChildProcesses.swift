import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The children of this process: the programs that it has started, and, where it is a subreaper or the
/// first process of its namespace, those that it has adopted.
///
/// A started program is reaped by the thread that runs it, an adopted child here, each by its own id:
/// a `waitpid(-1)` would take somebody else's.
package enum ChildProcesses {
  private struct State {
    var leaders: Set<Int32> = []
    /// Children that were there before: none of the engine's business.
    var earlier: Set<ProcessIdentity> = []
    var isAdopting = false
  }

  private static let state = Mutex(State())

  /// How often adopted children that have ended are looked for.
  private static let reapingInterval = Duration.milliseconds(250)

  /// Makes this process the parent of all descendants that lose theirs, and reaps those. For a program's
  /// `main`, not for a library: the whole process is changed.
  package static func adoptOrphans() throws(SystemError) {
    _ = try checked(weft_become_subreaper())
    if weft_has_children() != 0 {
      let own = ProcessTable.shared.walk().processes.filter { $0.parent == getpid() }
      state.withLock { $0.earlier = Set(own.map(\.identity)) }
    }
    state.withLock { $0.isAdopting = true }
    try Thread.start(name: "weft-reaper", stackBytes: 256 << 10) {
      let parking = Parking()
      while true {
        _ = parking.park(atMost: reapingInterval)
        reapAdopted()
      }
    }
  }

  static var isAdopting: Bool { state.withLock { $0.isAdopting } }

  /// Whether this process has any child, a zombie included.
  static var exist: Bool { weft_has_children() != 0 }

  /// Starts a program and registers it.
  static func start<Failure>(
    _ spawn: () throws(Failure) -> StartedProgram
  ) throws(Failure) -> StartedProgram {
    weft_start_gate_pass()
    defer { weft_start_gate_passed() }
    let started = try spawn()
    state.withLock { _ = $0.leaders.insert(started.id) }
    return started
  }

  /// Starts and reaps a child that nobody needs to know of.
  static func beforeRegistering(_ call: () -> Int32) throws(SystemError) -> Int32 {
    weft_start_gate_pass()
    defer { weft_start_gate_passed() }
    return try checked(call())
  }

  /// Reaps a program that was registered and has exited.
  ///
  /// In one act: its id is free from the moment of the reaping, and the registration of the next program that
  /// gets it must not be taken away.
  static func reap(_ leader: Int32, _ wait: () -> Void) {
    state.withLock { state in
      wait()
      state.leaders.remove(leader)
    }
  }

  /// Adopted processes that only a step can have left behind: none where this process had children before it
  /// adopted any, for those may leave some behind as well, and nothing tells them apart.
  static func orphansOfSteps(among processes: [ProcessStatus]) -> Set<ProcessIdentity> {
    state.withLock { $0.earlier.isEmpty } ? adopted(among: processes) : []
  }

  /// What this process has adopted.
  static func adopted(among processes: [ProcessStatus]) -> Set<ProcessIdentity> {
    let own = processes.filter { $0.parent == getpid() }
    return state.withLock { state in
      Set(own.map(\.identity)).subtracting(state.earlier)
        .filter { !state.leaders.contains($0.id) }
    }
  }

  /// Reaps the adopted children that have ended; nobody, where none are adopted: a library's host waits for
  /// its children itself.
  static func reapAdopted() {
    guard isAdopting else { return }
    while let exited = exitedAdopted() {
      weft_start_gate_shut()
      let isRegistered = state.withLock { $0.leaders.contains(exited) }
      if !isRegistered { weft_reap(exited) }
      weft_start_gate_open()
      if isRegistered { return }
    }
  }

  /// The system names but one that has exited; if that is a program that its thread will reap, all are
  /// looked through.
  private static func exitedAdopted() -> Int32? {
    let exited = weft_exited_child()
    guard exited > 0 else { return nil }
    guard state.withLock({ $0.leaders.contains(exited) }) else { return exited }
    let zombies = adopted(among: ProcessTable.shared.walk().processes.filter { !$0.isAlive })
    return zombies.first?.id
  }
}
