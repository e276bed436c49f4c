import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system calls by which a single process is signalled. They answer with a negated errno; a test puts
/// failing ones in their place.
struct SignalCalls: Sendable {
  /// Takes hold of a process by its id; a descriptor.
  var hold: @Sendable (Int32) -> Int32 = { weft_exit_descriptor($0) }
  var signalHeld: @Sendable (_ descriptor: Int32, _ signal: Int32) -> Int32 = {
    weft_signal_held($0, $1)
  }
  var letGo: @Sendable (Int32) -> Void = { close($0) }
  /// Signals whatever has the id.
  var signal: @Sendable (_ id: Int32, _ signal: Int32) -> Void = { kill($0, $1) }

  static let system = SignalCalls()

  /// Whether a call failed because there is no such call or no descriptor is free. Any other error is about
  /// the process: above all that it has gone (ESRCH), and its id may be another's.
  static func isUnavailable(_ result: Int32) -> Bool {
    [-ENOSYS, -EMFILE, -ENFILE].contains(result)
  }
}

extension ProcessStatus {
  /// Sends a signal to this very process.
  ///
  /// - Parameter isSame: Asked after the process has been taken hold of, where the system can do that
  ///   (Linux: a pidfd): if its id had been another's by then, this tells.
  func send(
    _ signal: Signal, if isSame: @autoclosure () -> Bool, by calls: SignalCalls = .system
  ) {
    let held = calls.hold(id)
    defer { if held >= 0 { calls.letGo(held) } }
    guard held >= 0 || SignalCalls.isUnavailable(held), isSame() else { return }
    let sent = held >= 0 ? calls.signalHeld(held, signal.rawValue) : held
    if SignalCalls.isUnavailable(sent) { calls.signal(id, signal.rawValue) }
  }

  /// Whether the process that now has the id is this one.
  var isStillThere: Bool { ProcessStatus(of: id)?.identity == identity }
}

/// Ends processes that may go on to start others while they are being ended.
enum Sweep {
  private static let rounds = 32

  /// Stops all there are, until a look finds nobody new, and then kills them: what is stopped forks no
  /// more.
  static func kill(
    _ find: () -> [ProcessStatus], if holds: (ProcessStatus) -> Bool = \.isStillThere
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
