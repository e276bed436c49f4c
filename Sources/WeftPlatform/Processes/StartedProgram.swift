import CWeftPlatform
import Synchronization

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
