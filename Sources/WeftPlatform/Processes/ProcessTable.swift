import Synchronization

/// A process for reports.
package struct ProcessRecord: Hashable, Sendable {
  package var id: Int32
  /// The program's name as the kernel keeps it: at most 15 bytes.
  package var command: String

  package init(id: Int32, command: String) {
    self.id = id
    self.command = command
  }
}

/// An identity that distinguishes a process from an earlier one with the same id.
package struct ProcessIdentity: Hashable, Sendable {
  package var id: Int32
  /// The start time, in the kernel's ticks since boot.
  package var startTicks: UInt64

  package init(id: Int32, startTicks: UInt64) {
    self.id = id
    self.startTicks = startTicks
  }
}

/// A process and its relations to others.
package struct ProcessStatus: Hashable, Sendable {
  package var identity: ProcessIdentity
  package var command: String
  /// False for zombies, which only wait to be reaped.
  package var isAlive: Bool
  package var parent: Int32
  package var group: Int32
  package var session: Int32

  package var id: Int32 { identity.id }
  package var record: ProcessRecord { ProcessRecord(id: id, command: command) }

  package init(
    identity: ProcessIdentity, command: String, isAlive: Bool = true, parent: Int32, group: Int32,
    session: Int32
  ) {
    self.identity = identity
    self.command = command
    self.isAlive = isAlive
    self.parent = parent
    self.group = group
    self.session = session
  }
}

/// The processes of this machine, zombies included.
///
/// A walk over /proc takes a few microseconds for each process of the whole machine, so concurrent callers share one: a
/// walk serves all calls made before it begins.
package final class ProcessTable: Sendable {
  static let shared = ProcessTable()

  /// The result of one walk.
  struct Walk {
    /// Later walks have higher numbers.
    var number = 0
    fileprivate var begun = Duration.zero
    var processes: [ProcessStatus] = []
  }

  private let last = Mutex(Walk())

  /// All processes at some moment after the start of this call.
  func walk() -> Walk {
    let asked = MonotonicClock.now
    return last.withLock { walk in
      if walk.begun <= asked {
        walk.number += 1
        walk.begun = MonotonicClock.now
        walk.processes = Self.all()
      }
      return walk
    }
  }

  /// The living members of group `leader`, without the leader itself.
  func members(ofGroup leader: Int32) -> [ProcessStatus] {
    walk().processes.filter { $0.group == leader && $0.id != leader && $0.isAlive }
  }
}
