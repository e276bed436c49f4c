import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How a program that started came to its end.
package struct ProgramEnd: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case exited(code: Int32)
    case killed(by: Signal)
    /// It has ended, and nobody can tell how: its exit status was taken elsewhere in this process
    /// (`waitpid(-1)`), or dropped by the kernel because SIGCHLD is ignored.
    case lost
  }

  package var status: Status
  /// Who ended it; `nil` when it ended by itself, also if a stop came too late for it.
  package var stopped: StopCause?
  /// Whether stopping it took KILL.
  package var neededKill: Bool
  /// What was alive when its leader had exited by itself: in its group, or, after a failure, anywhere. It
  /// has been ended.
  package var leftovers: [ProcessRecord]
  /// What could not be killed, and is still alive.
  package var survivors: [ProcessRecord]
  /// Whether it may have left something alive that is to stay: ``ChildProgram/keepsLeftovers``.
  package var keptRest: Bool
  /// Whether some process kept its output open, so that reading stopped before the end of file.
  package var outputWasHeld: Bool
  package var usage: ResourceUsage
  /// From just before the start to the leader's reaping.
  package var duration: Duration

  /// Whether it may have had no chance to clean up after itself.
  package var wasCutOff: Bool {
    switch status {
    case .killed, .lost: true
    case .exited: stopped != nil
    }
  }

  /// Whether it ended by itself with `code`.
  package func exited(with code: Int32) -> Bool { status == .exited(code: code) && stopped == nil }
}

/// What the kernel accounts to a program and those of its descendants that it has waited for.
package struct ResourceUsage: Hashable, Sendable {
  package var user: Duration
  package var system: Duration
  /// Includes what the starting process had resident at that moment (`ru_maxrss`), so it means
  /// something only where it is larger than that.
  package var peakResidentBytes: Int
  package var minorFaults: Int
  package var majorFaults: Int
  package var voluntarySwitches: Int
  package var involuntarySwitches: Int

  /// The peak, where it is certain that it is the program's own: the kernel counts what the engine had in
  /// memory when it started the program, too, and both only to within a few pages a processor.
  package var peakBeyondThisProcess: Int? {
    let margin = 1 << 20
    guard peakResidentBytes > Self.ownPeak.load(ordering: .relaxed) + margin else { return nil }
    let own = Self.ofThisProcess().peakResidentBytes
    Self.ownPeak.store(own, ordering: .relaxed)
    return peakResidentBytes > own + margin ? peakResidentBytes : nil
  }

  /// As it was when last asked for; it only grows.
  private static let ownPeak = Atomic(0)

  init(_ usage: rusage) {
    user = Duration(usage.ru_utime)
    system = Duration(usage.ru_stime)
    #if canImport(Darwin)
      peakResidentBytes = usage.ru_maxrss
    #else
      peakResidentBytes = usage.ru_maxrss * 1024
    #endif
    minorFaults = usage.ru_minflt
    majorFaults = usage.ru_majflt
    voluntarySwitches = usage.ru_nvcsw
    involuntarySwitches = usage.ru_nivcsw
  }

  /// What this process itself has used so far, its children not counted.
  package static func ofThisProcess() -> ResourceUsage {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
    #else
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #endif
    return ResourceUsage(usage)
  }
}

extension Duration {
  fileprivate init(_ time: timeval) {
    self = .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
  }
}

extension ProgramEnd.Status {
  /// From `wait4`'s word (POSIX `WIFEXITED` and its kin are macros that Swift does not see).
  init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self =
      signal == 0 ? .exited(code: (waitStatus >> 8) & 0xff) : .killed(by: Signal(rawValue: signal))
  }
}
