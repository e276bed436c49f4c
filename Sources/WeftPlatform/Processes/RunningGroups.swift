import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The groups of the programs that run now, so that all of them can be made to stand still.
///
/// A terminal's ^Z does not reach them, for they have sessions of their own; and TSTP would do nothing,
/// for their groups are orphaned (POSIX `sigaction`). So they get STOP.
package final class RunningGroups: Sendable {
  /// Of this process: every program that it runs is here, a terminal's borrower excepted.
  package static let shared = RunningGroups()

  fileprivate struct State {
    var leaders: Set<Int32> = []
    /// How many programs are being started at this moment.
    var starting = 0
    /// Those stopped by the pause that goes on; `nil` when there is none.
    var paused: Set<Int32>?
    /// To be woken when a start is over, or the pause.
    var waiting: [Wakeup] = []
  }

  private let state = Mutex(State())

  /// Starts that take longer are not waited for; what they start is stopped as soon as it is known.
  private static let startLimit = Duration.seconds(1)

  /// Starts a program, not during a pause.
  ///
  /// - Parameter start: Returns the leader of the program's group, or `nil` to leave it out.
  func admit<Started>(
    _ start: () throws(ProgramNotStarted) -> (Started, leader: Int32?)
  ) throws(ProgramNotStarted) -> Started {
    enter()
    var leader: Int32?
    defer { started(leader) }
    let result = try start()
    leader = result.leader
    return result.0
  }

  /// `leader` is about to be reaped, after which its number may be another's.
  func remove(_ leader: Int32) {
    state.withLock { state in
      state.leaders.remove(leader)
      state.paused?.remove(leader)
    }
  }

  /// Stops all groups but those that somebody else has stopped; what is to be started waits.
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
