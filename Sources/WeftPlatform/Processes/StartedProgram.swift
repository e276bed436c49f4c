import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// The first process of a program that has just been started.
package struct StartedProgram: Sendable {
  package let id: Int32
  /// By the clock of the boot, in nanoseconds.
  private let earliest: Int64
  private let latest: Int64

  init(_ start: () throws(ProgramNotStarted) -> Int32) throws(ProgramNotStarted) {
    earliest = weft_boot_nanoseconds()
    id = try start()
    latest = weft_boot_nanoseconds()
  }

  /// What tells it from any other with the same id; without its start where the system does not tell that.
  ///
  /// To ask the system takes a hundred times as long as to look at a clock, and makes the end of the process longer,
  /// so it is asked only where the process may have started in either of two ticks.
  package var identity: ProcessIdentity {
    guard ProcessTable.isReadable else { return ProcessIdentity(id: id, startTicks: 0) }
    guard let ticks = BootTicks.tick(ofAllBetween: earliest, latest), BootTicks.agreement != .no
    else { return asked ?? ProcessIdentity(id: id, startTicks: 0) }
    let known = ProcessIdentity(id: id, startTicks: ticks)
    if BootTicks.agreement == .yes { return known }
    // Somebody may stand between the clock and the process table: the first time both are asked.
    guard let asked else { return known }
    BootTicks.agreement = asked == known ? .yes : .no
    return asked
  }

  private var asked: ProcessIdentity? { ProcessStatus(of: id)?.identity }
}

/// The ticks in which the system tells when a process has started.
private enum BootTicks {
  /// Whether the clock and the process table have been found to say the same.
  enum Agreement: UInt8 {
    case unknown, yes, no
  }

  private static let found = Atomic<UInt8>(Agreement.unknown.rawValue)

  static var agreement: Agreement {
    get { Agreement(rawValue: found.load(ordering: .relaxed)) ?? .no }
    set { found.store(newValue.rawValue, ordering: .relaxed) }
  }

  #if canImport(Glibc)
    /// proc_pid_stat(5): what is told is divided by `sysconf(_SC_CLK_TCK)`.
    private static let nanoseconds = 1_000_000_000 / Int64(max(1, sysconf(Int32(_SC_CLK_TCK))))

    /// The tick that all moments from one to another are in; `nil` if there are several.
    static func tick(ofAllBetween first: Int64, _ last: Int64) -> UInt64? {
      guard first > 0, first / nanoseconds == last / nanoseconds else { return nil }
      return UInt64(first / nanoseconds)
    }
  #else
    static func tick(ofAllBetween first: Int64, _ last: Int64) -> UInt64? { nil }
  #endif
}
