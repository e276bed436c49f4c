import CWeftPlatform

/// Takes signals over from their default effect and tells them to a closure, on a thread of its own where
/// any code may run.
///
/// For a program's `main`, before it has made any thread: a thread that does not block the signals would
/// get them instead.
package final class SignalListener: Sendable {
  /// What is listened to. A signal that was ignored when the program started stays ignored and is left
  /// out: `nohup` means HUP, a shell's `&` means INT.
  package let signals: [Signal]

  /// What `start` listens to unless told otherwise. QUIT stays what it is: the way to get a core.
  package static let ending: [Signal] = [.interrupt, .terminate, .hangup]

  private init(_ signals: [Signal]) { self.signals = signals }

  /// - Parameter handler: Called with each signal, one at a time, in order of arrival. Never from a
  ///   `@MainActor` context: it runs on another thread.
  package static func start(
    _ wanted: [Signal] = ending, handler: @escaping @Sendable (Signal) -> Void
  ) throws(SystemError) -> SignalListener {
    let signals = wanted.filter { weft_signal_is_ignored($0.rawValue) == 0 }
    for signal in signals { _ = try checked(weft_signal_block(signal.rawValue)) }
    let mask = signals.reduce(UInt64(0)) { $0 | 1 << UInt64($1.rawValue - 1) }
    guard mask != 0 else { return SignalListener([]) }
    try Thread.start(name: "weft-signals", stackBytes: 512 * 1024) {
      while true {
        let number = weft_signal_wait(mask)
        if number > 0 { handler(Signal(rawValue: number)) }
      }
    }
    return SignalListener(signals)
  }

  /// From now on a write to a pipe without a reader fails and does not end the process. For a program, not
  /// for a library: the disposition is the process's.
  package static func ignoreBrokenPipes() { weft_signal_ignore(Signal.brokenPipe.rawValue) }

  /// From now on a write beyond the limit of file sizes fails and does not end the process. For a program, not
  /// for a library.
  package static func ignoreFileSizeLimits() { weft_signal_ignore(Signal.fileSizeLimit.rawValue) }

  /// Restores the default effect of SIGCHLD, which a parent may have ignored: the kernel would then reap
  /// every child itself and keep no exit status (POSIX `wait`). For a program's `main`, before its first
  /// thread; not for a library.
  package static func restoreChildSignal() { weft_signal_restore(Signal.child.rawValue) }

  /// Promises that nobody will change any more what this process does at signals: programs, which must
  /// not inherit it, are then started without asking for it each time. For a program, not for a library.
  package static func settleDispositions() { weft_spawn_settle_dispositions() }

  /// Ends this process as `signal` would have, so that whoever waits for it sees the signal itself.
  package static func endProcess(by signal: Signal) -> Never {
    weft_signal_die(signal.rawValue)
  }
}
