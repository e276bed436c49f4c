import Synchronization

/// A process as it was seen.
package struct ProcessRecord: Hashable, Sendable {
  package var id: Int32
  /// The program's name as the kernel keeps it: 15 bytes at most.
  package var command: String

  package init(id: Int32, command: String) {
    self.id = id
    self.command = command
  }
}

/// The processes that live now, by group. Zombies have died and are not among them.
///
/// A walk over /proc takes a few microseconds per process of the whole machine, so threads that ask at
/// the same time share one: whoever asks before a walk begins is served by it.
final class ProcessTable: Sendable {
  static let shared = ProcessTable()

  private struct Walk {
    var begun = Duration.zero
    var groups: [Int32: [ProcessRecord]] = [:]
  }

  private let walk = Mutex(Walk())

  /// Members of group `leader`, itself left out, at some moment after this call began.
  func members(ofGroup leader: Int32) -> [ProcessRecord] {
    let asked = MonotonicClock.now
    return walk.withLock { walk in
      if walk.begun <= asked {
        walk.begun = MonotonicClock.now
        walk.groups = Self.groups()
      }
      return walk.groups[leader, default: []].filter { $0.id != leader }
    }
  }
}
