import WeftDefinition

/// Decides on which host the next program runs, and which connection carries it.
struct HostSeats: Sendable {
  /// A place for one program.
  struct Seat: Hashable, Sendable {
    let host: Int
    /// Unique among all connections of all hosts.
    let connection: Int
  }

  /// The programs on each connection of each host.
  private var hosts: [[(connection: Int, programs: Int)]]
  private var lastConnection = 0

  init(hosts count: Int) { hosts = Array(repeating: [], count: count) }

  /// Takes a place: on the host with the fewest programs, and there on the first connection with room.
  ///
  /// - Parameters:
  ///   - wanted: The host; `nil` for any.
  ///   - isUsable: Whether a connection can still be used.
  mutating func take(on wanted: Int? = nil, isUsable: (Int) -> Bool) -> Seat {
    let counts = hosts.map { $0.reduce(0) { $0 + $1.programs } }
    let host = wanted ?? counts.indices.min { counts[$0] < counts[$1] } ?? 0
    let index = hosts[host].firstIndex {
      $0.programs < SSHHosts.usualSlots && isUsable($0.connection)
    }
    if let index {
      hosts[host][index].programs += 1
      return Seat(host: host, connection: hosts[host][index].connection)
    }
    lastConnection += 1
    hosts[host].append((lastConnection, 1))
    return Seat(host: host, connection: lastConnection)
  }

  mutating func giveBack(_ seat: Seat) {
    guard let index = hosts[seat.host].firstIndex(where: { $0.connection == seat.connection })
    else { return }
    hosts[seat.host][index].programs -= 1
  }
}
