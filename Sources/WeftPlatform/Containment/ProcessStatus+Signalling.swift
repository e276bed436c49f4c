import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension ProcessStatus {
  /// Sends a signal to this very process.
  ///
  /// - Parameter isSame: Asked after the process has been taken hold of, where the system can do that
  ///   (Linux: a pidfd): if its id had been another's by then, this tells.
  func send(_ signal: Signal, if isSame: @autoclosure () -> Bool) {
    let held = weft_exit_descriptor(id)
    defer { if held >= 0 { close(held) } }
    guard isSame() else { return }
    if weft_signal_held(held, signal.rawValue) != 0 { kill(id, signal.rawValue) }
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
