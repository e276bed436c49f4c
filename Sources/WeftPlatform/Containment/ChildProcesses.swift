import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The children of this process: the programs that it has spawned and, if it is a subreaper or the first process of its
/// namespace, those that it has adopted.
///
/// A spawned program is reaped by the thread that runs it, an adopted child here, each by its own id: a `waitpid(-1)`
/// would also reap children of other code.
package enum ChildProcesses {
  private struct State {
    var leaders: Set<Int32> = []
    /// Children that existed before; the engine does not manage them.
    var earlier: Set<ProcessIdentity> = []
    var isAdopting = false
  }

  private static let state = Mutex(State())

  /// The interval between searches for adopted children that have exited.
  private static let reapingInterval = Duration.milliseconds(250)

  /// Makes this process the parent of all descendants that lose theirs, and reaps those. For a program's `main`, not
  /// for a library: it changes the whole process.
  package static func adoptOrphans() throws(SystemError) {
    if isAdopting { return }
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

  /// Spawns a program and registers it.
  static func start<Failure>(
    _ spawn: () throws(Failure) -> StartedProgram
  ) throws(Failure) -> StartedProgram {
    weft_start_gate_pass()
    defer { weft_start_gate_passed() }
    let started = try spawn()
    state.withLock { _ = $0.leaders.insert(started.id) }
    return started
  }

  /// Spawns and reaps a child that is never registered.
  static func beforeRegistering(_ call: () -> Int32) throws(SystemError) -> Int32 {
    weft_start_gate_pass()
    defer { weft_start_gate_passed() }
    return try checked(call())
  }

  /// Reaps a program that was registered and has exited.
  ///
  /// Both happen under one lock: the id is free as soon as the program is reaped, and the registration of the next
  /// program that gets it must not be removed.
  static func reap(_ leader: Int32, _ wait: () -> Void) {
    state.withLock { state in
      wait()
      state.leaders.remove(leader)
    }
  }

  /// Adopted processes that only a step can have left behind. Empty if this process had children before it began to
  /// adopt, because those may leave orphans too, and the two kinds cannot be distinguished.
  static func orphansOfSteps(among processes: [ProcessStatus]) -> Set<ProcessIdentity> {
    state.withLock { $0.earlier.isEmpty } ? adopted(among: processes) : []
  }

  /// The children that this process has adopted.
  static func adopted(among processes: [ProcessStatus]) -> Set<ProcessIdentity> {
    let own = processes.filter { $0.parent == getpid() }
    return state.withLock { state in
      Set(own.map(\.identity)).subtracting(state.earlier)
        .filter { !state.leaders.contains($0.id) }
    }
  }

  /// Reaps the adopted children that have exited. Does nothing unless this process adopts: the host of a library waits
  /// for its children itself.
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

  /// An adopted child that has exited. The system names only one exited child; if that is a program that its own thread
  /// will reap, all children are searched.
  private static func exitedAdopted() -> Int32? {
    let exited = weft_exited_child()
    guard exited > 0 else { return nil }
    guard state.withLock({ $0.leaders.contains(exited) }) else { return exited }
    let zombies = adopted(among: ProcessTable.shared.walk().processes.filter { !$0.isAlive })
    return zombies.first?.id
  }
}
