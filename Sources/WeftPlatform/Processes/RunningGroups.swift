import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The process groups of all running programs, so that they can be paused together.
///
/// A terminal's ^Z does not reach them, because they have their own sessions; and TSTP would have no effect, because
/// their groups are orphaned (POSIX `sigaction`). So they get STOP.
package final class RunningGroups: Sendable {
  /// The groups of this process, with every program that it runs except the one that has borrowed the terminal.
  package static let shared = RunningGroups()

  fileprivate struct State {
    var leaders: Set<Int32> = []
    /// The number of programs being spawned.
    var starting = 0
    /// The groups stopped by the current pause; `nil` if there is none.
    var paused: Set<Int32>?
    /// Woken at the end of a spawn or of the pause.
    var waiting: [Wakeup] = []
  }

  private let state = Mutex(State())

  /// The maximum wait for spawns; programs whose spawn takes longer are stopped as soon as they are registered.
  private static let startLimit = Duration.seconds(1)

  /// Spawns a program, but not during a pause.
  ///
  /// - Parameter start: Returns the leader of the program's group, or `nil` if it is not to be registered.
  func admit<Started>(
    _ start: () throws(SpawnError) -> (Started, leader: Int32?)
  ) throws(SpawnError) -> Started {
    enter()
    var leader: Int32?
    defer { started(leader) }
    let result = try start()
    leader = result.leader
    return result.0
  }

  /// Removes a leader that is about to be reaped, after which its id may be reused.
  func remove(_ leader: Int32) {
    state.withLock { state in
      state.leaders.remove(leader)
      state.paused?.remove(leader)
    }
  }

  /// Stops all groups except those already stopped otherwise; new programs wait.
  package func pause() {
    state.withLock { $0.paused = $0.paused ?? [] }
    waitForStarts()
    state.withLock { state in
      for leader in state.leaders where weft_stopped_by(leader) == 0 { state.pause(leader) }
    }
  }

  /// Continues the groups that ``pause()`` has stopped.
  package func resume() {
    let waiting = state.withLock { state in
      for leader in state.paused ?? [] { kill(-leader, SIGCONT) }
      state.paused = nil
      return state.takeWaiting()
    }
    for wakeup in waiting { wakeup.wake() }
  }

  private func enter() {
    while true {
      let wakeup = state.withLock { state -> Wakeup? in
        guard state.paused == nil else { return state.waits() }
        state.starting += 1
        return nil
      }
      guard let wakeup else { return }
      wakeup.wait()
    }
  }

  private func started(_ leader: Int32?) {
    let waiting = state.withLock { state in
      state.starting -= 1
      if let leader {
        state.leaders.insert(leader)
        if state.paused != nil { state.pause(leader) }
      }
      return state.paused == nil ? [] : state.takeWaiting()
    }
    for wakeup in waiting { wakeup.wake() }
  }

  private func waitForStarts() {
    let limit = MonotonicClock.now + RunningGroups.startLimit
    while MonotonicClock.now < limit {
      let wakeup = state.withLock { state in state.starting > 0 ? state.waits() : nil }
      guard let wakeup else { return }
      wakeup.wait(atMost: limit - MonotonicClock.now)
    }
  }
}

extension RunningGroups.State {
  fileprivate mutating func pause(_ leader: Int32) {
    kill(-leader, SIGSTOP)
    paused?.insert(leader)
  }

  fileprivate mutating func waits() -> Wakeup {
    let wakeup = Wakeup()
    waiting.append(wakeup)
    return wakeup
  }

  fileprivate mutating func takeWaiting() -> [Wakeup] {
    defer { waiting = [] }
    return waiting
  }
}

#if canImport(Glibc)
  import Glibc
#endif

/// The first process of a program that has just been spawned.
package struct StartedProgram: Sendable {
  package let id: Int32
  /// Bounds of its start time in nanoseconds, by the boot clock.
  private let earliest: Int64
  private let latest: Int64

  init(_ start: () throws(SpawnError) -> Int32) throws(SpawnError) {
    earliest = weft_boot_nanoseconds()
    id = try start()
    latest = weft_boot_nanoseconds()
  }

  /// An identity that distinguishes it from any other process with the same id; without its start if the system does
  /// not report that.
  ///
  /// A query to the system takes a hundred times as long as reading a clock, and prolongs the end of the process, so
  /// there is one only if the process may have started in either of two ticks.
  package var identity: ProcessIdentity {
    guard ProcessTable.isReadable else { return ProcessIdentity(id: id, startTicks: 0) }
    guard let ticks = BootTicks.tick(ofAllBetween: earliest, latest), BootTicks.agreement != .no
    else { return asked ?? ProcessIdentity(id: id, startTicks: 0) }
    let known = ProcessIdentity(id: id, startTicks: ticks)
    if BootTicks.agreement == .yes { return known }
    // The clock and the process table may disagree, so the first time both are read.
    guard let asked else { return known }
    BootTicks.agreement = asked == known ? .yes : .no
    return asked
  }

  private var asked: ProcessIdentity? { ProcessStatus(of: id)?.identity }
}

/// The ticks in which the system reports the start of a process.
private enum BootTicks {
  /// Whether the clock and the process table were found to agree.
  enum Agreement: UInt8 {
    case unknown, yes, no
  }

  private static let found = Atomic<UInt8>(Agreement.unknown.rawValue)

  static var agreement: Agreement {
    get { Agreement(rawValue: found.load(ordering: .relaxed)) ?? .no }
    set { found.store(newValue.rawValue, ordering: .relaxed) }
  }

  #if canImport(Glibc)
    /// proc_pid_stat(5): the reported value is divided by `sysconf(_SC_CLK_TCK)`.
    private static let nanoseconds = 1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))

    /// The tick that contains all moments from `first` to `last`; `nil` if there are several.
    static func tick(ofAllBetween first: Int64, _ last: Int64) -> UInt64? {
      guard first > 0, first / nanoseconds == last / nanoseconds else { return nil }
      return UInt64(first / nanoseconds)
    }
  #else
    static func tick(ofAllBetween first: Int64, _ last: Int64) -> UInt64? { nil }
  #endif
}
