import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlatform

/// The connection to one host: an `ssh` that waits, while others use its socket.
final class SSHConnection: Sendable {
  enum Answer: Sendable {
    case connected
    case stopped
    case failed(StepFailure)
  }

  private let host: String
  /// The path of its control socket; `nil` if that would be too long, so that every program has a connection of its own.
  let socket: String?
  private let stop = StopSwitch()
  private let printed = Mutex<(output: [UInt8], errors: [UInt8])>(([], []))
  private let opened: Promise<StepFailure?, Never>
  private let ended: Promise<Void, Never>

  init(to host: String, socket: String?) {
    self.host = host
    self.socket = socket
    opened = Promise(ifDropped: .success(.connectionLost(to: host)))
    ended = Promise(ifDropped: .success(()))
  }

  /// Whether no program can use it any more.
  var hasEnded: Bool { ended.future.isSettled }

  func open(
    by program: ChildProgram, in containment: any Containment, on threads: ThreadPool
  ) {
    let job: @Sendable () -> Void = { [self, program] in
      var message: String?
      do throws(SpawnError) {
        _ = try program.run(in: containment, stop: stop) { [self] stream, bytes in
          note(bytes, from: stream)
        }
      } catch {
        message = error.message
      }
      let errors = printed.withLock { $0.errors }
      ended.succeed(())
      opened.succeed(
        message.map { .notConnected(to: host, reason: $0) }
          ?? .notConnected(to: host, saying: errors))
    }
    do { try threads.submit(job) } catch {
      ended.succeed(())
      opened.succeed(.notConnected(to: host, reason: error.message))
    }
  }

  /// Scripts of a login shell may print something before.
  private func note(_ bytes: UnsafeRawBufferPointer, from stream: OutputStream) {
    let isOpen = printed.withLock { printed in
      if stream == .errors {
        printed.errors = (printed.errors + bytes).suffix(4096)
        return false
      }
      printed.output = (printed.output + bytes).suffix(4096)
      return String(decoding: printed.output, as: UTF8.self).hasSuffix(
        RemoteSupervisor.readyWord + "\n")
    }
    if isOpen { opened.succeed(nil) }
  }

  /// Blocks until the host is connected or not.
  func wait(until stop: StopSwitch) -> Answer {
    let wakeup = Wakeup()
    stop.attach(wakeup)
    defer { stop.detach(wakeup) }
    opened.future.whenSettled { _ in wakeup.wake() }
    while !opened.future.isSettled, stop.level == .none { wakeup.wait() }
    guard let outcome = opened.future.outcome else { return .stopped }
    return outcome.get().map { .failed($0) } ?? .connected
  }

  /// Ends it.
  func close() -> Future<Void, Never> {
    stop.request(.graceful)
    return ended.future
  }
}

extension StepFailure {
  static func notConnected(to host: String, saying bytes: [UInt8]) -> StepFailure {
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
    return notConnected(to: host, reason: lines.last.map(String.init) ?? "ssh ended")
  }

  static func notConnected(to host: String, reason: String) -> StepFailure {
    StepFailure(
      classes: [.runner], message: "did not start: \(host) cannot be reached: \(shortened(reason))",
      help: "try it: ssh -o BatchMode=yes \(host) true")
  }

  static func connectionLost(to host: String) -> StepFailure {
    StepFailure(
      classes: [.runner], message: "lost the connection to \(host)",
      help: "the server ends what it had started there when it notices; \"retry\" runs it again "
        + "over a new connection")
  }
}

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
