import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The result of terminating orphans.
package struct OrphansEnd: Hashable, Sendable {
  /// Processes that were alive and have been terminated.
  package var ended: [ProcessRecord] = []
  /// Processes that could not be terminated.
  package var orphans: [ProcessRecord] = []

  package init() {}
}

/// Terminates orphans in the way that a program is stopped: requests termination, and kills after the grace period.
package struct OrphanTermination {
  /// Finds all living orphans.
  let find: () -> [ProcessStatus]
  let policy: StopPolicy
  /// A switch that can speed up the termination.
  let stop: StopSwitch

  package init(policy: StopPolicy, stop: StopSwitch, find: @escaping () -> [ProcessStatus]) {
    self.find = find
    self.policy = policy
    self.stop = stop
  }

  /// The time after which ``end(onDelay:)`` reports that it waits.
  private static let silence = Duration.seconds(1)

  /// Blocks until all of them are dead, or have survived being killed for five seconds.
  ///
  /// - Parameter report: Called once with those that are alive after a second.
  package func end(onDelay report: ([ProcessRecord]) -> Void = { _ in }) -> OrphansEnd {
    let reportedFrom = MonotonicClock.now + OrphanTermination.silence
    var isReported = false
    var found = findAll()
    var all = found
    guard !found.isEmpty, let slot = try? ProgramSlot.ofThisThread() else { return OrphansEnd() }
    _ = stop.attach(slot.signal)
    defer { stop.detach(slot.signal) }
    // Like a program whose leader exits at the moment of the stop, with all output written.
    var ending = Ending(startedAt: MonotonicClock.now, timeout: nil, grace: policy.grace)
    ending.stopRequested(max(.graceful, stop.level))
    while true {
      switch ending.next(at: MonotonicClock.now) {
      case .terminate: ask(found)
      case .kill: Sweep.kill(find)
      case .wait(let time):
        if ending.outputIsOpen {
          ending.leaderExited(at: MonotonicClock.now)
          ending.outputEnded()
        } else {
          slot.sleep(until: time)
          ending.stopRequested(stop.level)
        }
      case .check:
        found = check(hasKilled: ending.hasKilled)
        if !isReported, !found.isEmpty, MonotonicClock.now >= reportedFrom {
          report(found.map(\.record))
          isReported = true
        }
        // Compared by identity: parent, group and name may have changed since.
        all += found.filter { new in !all.contains { $0.identity == new.identity } }
        ending.recordOthers(areGone: found.isEmpty, at: MonotonicClock.now)
      case .finish: return result(of: all, orphans: ending.gaveUp ? found : [])
      }
    }
  }

  /// The living orphans. One search may miss a process that starts during it, which would then only be killed, after the
  /// grace period; so searches are repeated until one finds nothing new, up to a limit for those that never stop starting
  /// others.
  private func findAll() -> [ProcessStatus] {
    var found = find()
    for _ in 0..<5 where !found.isEmpty {
      let known = Set(found.map(\.identity))
      found = find()
      if found.allSatisfy({ known.contains($0.identity) }) { break }
    }
    return found
  }

  private func ask(_ processes: [ProcessStatus]) {
    for process in processes {
      process.send(policy.signal, if: process.exists)
      process.send(.continue, if: process.exists)
    }
  }

  private func check(hasKilled: Bool) -> [ProcessStatus] {
    // One search may miss a process that starts during it.
    var found = find()
    if found.isEmpty { found = find() }
    if !found.isEmpty, hasKilled { Sweep.kill(find) }
    return found
  }

  private func result(of all: [ProcessStatus], orphans: [ProcessStatus]) -> OrphansEnd {
    var result = OrphansEnd()
    let alive = Set(orphans.map(\.identity))
    result.ended = all.filter { !alive.contains($0.identity) }.map(\.record)
    result.orphans = orphans.map(\.record)
    return result
  }
}

extension Containment {
  /// Terminates the orphans of ended attempts.
  package func endOrphans(_ policy: StopPolicy, stop: StopSwitch) -> OrphansEnd {
    guard mayHoldOrphans else { return OrphansEnd() }
    return OrphanTermination(policy: policy, stop: stop, find: orphans).end()
  }
}

/// The system calls that signal a single process. They return a negated errno; tests replace them with failing ones.
struct SignalCalls: Sendable {
  /// Opens a descriptor that refers to the process with an id.
  var hold: @Sendable (Int32) -> Int32 = { weft_exit_descriptor($0) }
  var signalHeld: @Sendable (_ descriptor: Int32, _ signal: Int32) -> Int32 = {
    weft_signal_held($0, $1)
  }
  var releaseHold: @Sendable (Int32) -> Void = { close($0) }
  /// Signals whichever process has the id.
  var signal: @Sendable (_ id: Int32, _ signal: Int32) -> Void = { kill($0, $1) }

  static let system = SignalCalls()

  /// Whether a call failed because the system does not have it or no descriptor is free. Any other error concerns the
  /// process: usually that it has gone (ESRCH), and its id may belong to a different one.
  static func isUnavailable(_ result: Int32) -> Bool {
    [-ENOSYS, -EMFILE, -ENFILE].contains(result)
  }
}

extension ProcessStatus {
  /// Sends a signal to exactly this process.
  ///
  /// - Parameter isSame: Evaluated after the process has been opened, if the system can do that (Linux: a pidfd), so
  ///   that it detects an id that was reused before.
  func send(
    _ signal: Signal, if isSame: @autoclosure () -> Bool, by calls: SignalCalls = .system
  ) {
    let held = calls.hold(id)
    defer { if held >= 0 { calls.releaseHold(held) } }
    guard held >= 0 || SignalCalls.isUnavailable(held), isSame() else { return }
    let sent = held >= 0 ? calls.signalHeld(held, signal.rawValue) : held
    if SignalCalls.isUnavailable(sent) { calls.signal(id, signal.rawValue) }
  }

  /// Sends a signal to exactly this process, if it exists.
  package func send(_ signal: Signal) { send(signal, if: exists) }

  /// Whether the process that now has the id is this one.
  var exists: Bool {
    // Where /proc does not show processes, this one was listed by its control group a moment ago.
    if !ProcessTable.isReadable { return id > 0 && kill(id, 0) == 0 }
    return ProcessStatus(of: id)?.identity == identity
  }
}

extension ProcessCookie {
  /// Kills all processes of this user whose environments have its entries, and waits for their death; not for long, as
  /// some cannot be killed.
  package func killAll() {
    #if os(Linux)
      func find() -> [ProcessStatus] {
        ProcessTable.shared.walk().processes.filter { process in
          process.isAlive && process.id != getpid()
            && ProcessStatus.user(of: process.id) == geteuid()
            && ProcessCookie.environment(of: process.id).map(isIn) == true
        }
      }
      let end = MonotonicClock.now + .seconds(2)
      var pause = Duration.milliseconds(1)
      while !find().isEmpty, MonotonicClock.now < end {
        Sweep.kill(find)
        Wakeup().wait(atMost: pause)
        pause = min(pause * 2, .milliseconds(50))
      }
    #endif
  }
}

/// Kills processes that may keep starting others meanwhile.
enum Sweep {
  private static let rounds = 32

  /// Stops all processes until a search finds no new ones, and then kills them: a stopped process does not fork.
  static func kill(
    _ find: () -> [ProcessStatus], if holds: (ProcessStatus) -> Bool = \.exists
  ) {
    var stopped: Set<ProcessIdentity> = []
    var found: [ProcessStatus] = []
    for _ in 0..<rounds {
      found = find()
      let new = found.filter { !stopped.contains($0.identity) }
      if new.isEmpty { break }
      for process in new {
        process.send(.stop, if: holds(process))
        stopped.insert(process.identity)
      }
    }
    for process in found { process.send(.kill, if: holds(process)) }
  }
}
