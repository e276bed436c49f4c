import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The system calls that signal a single process. They return a negated errno; tests replace them with failing ones.
struct SignalCalls: Sendable {
  /// Opens a descriptor that refers to the process with an id.
  var hold: @Sendable (Int32) -> Int32 = { weft_exit_descriptor($0) }
  var signalHeld: @Sendable (_ descriptor: Int32, _ signal: Int32) -> Int32 = {
    weft_signal_held($0, $1)
  }
  var letGo: @Sendable (Int32) -> Void = { close($0) }
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
    defer { if held >= 0 { calls.letGo(held) } }
    guard held >= 0 || SignalCalls.isUnavailable(held), isSame() else { return }
    let sent = held >= 0 ? calls.signalHeld(held, signal.rawValue) : held
    if SignalCalls.isUnavailable(sent) { calls.signal(id, signal.rawValue) }
  }

  /// Whether the process that now has the id is this one.
  var isStillThere: Bool { ProcessStatus(of: id)?.identity == identity }
}

/// Kills processes that may keep starting others meanwhile.
enum Sweep {
  private static let rounds = 32

  /// Stops all processes until a search finds no new ones, and then kills them: a stopped process does not fork.
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
