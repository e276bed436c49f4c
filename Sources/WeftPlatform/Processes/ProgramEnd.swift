import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The end of a program that was started.
package struct ProgramEnd: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case exited(code: Int32)
    case killed(by: Signal)
    /// It has ended with an unknown status: the status was taken elsewhere in this process (`waitpid(-1)`), or dropped
    /// by the kernel because SIGCHLD is ignored.
    case lost
  }

  package var status: Status
  /// The cause of its stop; `nil` if it ended by itself, even if a stop came too late for it.
  package var stopped: StopCause?
  /// Whether stopping it took KILL.
  package var neededKill: Bool
  /// Processes that were alive when its leader had exited by itself: in its group or, after a failure, anywhere. They
  /// have been killed.
  package var leftovers: [ProcessRecord]
  /// Processes that could not be killed and are still alive.
  package var orphans: [ProcessRecord]
  /// Whether it may have left processes that are to stay: ``ChildProgram/keepsLeftovers``.
  package var keptProcesses: Bool
  /// Whether a process kept its output open, so that reading stopped before the end of file.
  package var outputWasHeld: Bool
  package var usage: ProgramUsage
  /// The time from just before the start to the leader's reaping.
  package var duration: Duration

  /// Whether it may have had no chance to clean up.
  package var wasCutOff: Bool {
    switch status {
    case .killed, .lost: true
    case .exited: stopped != nil
    }
  }

  /// Whether it ended by itself with `code`.
  package func exited(with code: Int32) -> Bool { status == .exited(code: code) && stopped == nil }
}

/// The resources that the kernel accounts to a program and to those of its descendants that it has waited for.
package struct ProgramUsage: Hashable, Sendable {
  package var user: Duration
  package var system: Duration
  /// Includes the resident memory of the parent process at the time of the spawn (`ru_maxrss`), so it is meaningful
  /// only if it is larger than that.
  package var peakResidentBytes: Int
  package var minorFaults: Int
  package var majorFaults: Int
  package var voluntarySwitches: Int
  package var involuntarySwitches: Int

  /// The peak if it is certain to be the program's own, otherwise `nil`: the kernel also counts the memory that the
  /// engine had when it spawned the program, and both only to within a few pages per processor.
  package var peakBeyondThisProcess: Int? {
    let margin = 1 << 20
    guard peakResidentBytes > Self.ownPeak.load(ordering: .relaxed) + margin else { return nil }
    let own = Self.ofThisProcess().peakResidentBytes
    Self.ownPeak.store(own, ordering: .relaxed)
    return peakResidentBytes > own + margin ? peakResidentBytes : nil
  }

  /// The last known value; it only grows.
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

  /// The resources that this process itself has used so far, without its children.
  package static func ofThisProcess() -> ProgramUsage {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
    #else
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #endif
    return ProgramUsage(usage)
  }
}

extension Duration {
  fileprivate init(_ time: timeval) {
    self = .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
  }
}

extension ProgramEnd.Status {
  /// Decodes the status word of `wait4` (POSIX `WIFEXITED` and related names are macros that Swift does not see).
  init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self =
      signal == 0 ? .exited(code: (waitStatus >> 8) & 0xff) : .killed(by: Signal(rawValue: signal))
  }
}
