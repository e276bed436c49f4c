import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A signal, by its name, "TERM", or its number on this system.
package struct Signal: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  package static let hangup = Signal(rawValue: SIGHUP)
  package static let interrupt = Signal(rawValue: SIGINT)
  package static let quit = Signal(rawValue: SIGQUIT)
  package static let kill = Signal(rawValue: SIGKILL)
  package static let brokenPipe = Signal(rawValue: SIGPIPE)
  package static let fileSizeLimit = Signal(rawValue: SIGXFSZ)
  package static let terminate = Signal(rawValue: SIGTERM)
  package static let child = Signal(rawValue: SIGCHLD)
  package static let user1 = Signal(rawValue: SIGUSR1)
  package static let user2 = Signal(rawValue: SIGUSR2)
  package static let `continue` = Signal(rawValue: SIGCONT)
  package static let stop = Signal(rawValue: SIGSTOP)
  package static let terminalStop = Signal(rawValue: SIGTSTP)

  /// Finds a signal by its POSIX name, in capitals, with or without "SIG".
  package init?(name: String) {
    let name = name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
    guard let known = Self.names.first(where: { $0.name == name }) else { return nil }
    self.init(rawValue: known.number)
  }

  /// The name without "SIG"; the number if there is no name.
  package var name: String {
    Self.names.first { $0.number == rawValue }?.name ?? String(rawValue)
  }

  /// The exit code with which shells report that a program died of the signal.
  package var shellExitCode: Int32 { 128 + rawValue }

  /// All names that `init(name:)` accepts.
  package static var knownNames: [String] { names.map(\.name) }

  private static let names: [(name: String, number: Int32)] = [
    ("HUP", SIGHUP), ("INT", SIGINT), ("QUIT", SIGQUIT), ("ILL", SIGILL), ("TRAP", SIGTRAP),
    ("ABRT", SIGABRT), ("BUS", SIGBUS), ("FPE", SIGFPE), ("KILL", SIGKILL), ("USR1", SIGUSR1),
    ("SEGV", SIGSEGV), ("USR2", SIGUSR2), ("PIPE", SIGPIPE), ("ALRM", SIGALRM), ("TERM", SIGTERM),
    ("CHLD", SIGCHLD), ("CONT", SIGCONT), ("STOP", SIGSTOP), ("TSTP", SIGTSTP), ("TTIN", SIGTTIN),
    ("TTOU", SIGTTOU), ("URG", SIGURG), ("XCPU", SIGXCPU), ("XFSZ", SIGXFSZ), ("VTALRM", SIGVTALRM),
    ("PROF", SIGPROF), ("WINCH", SIGWINCH), ("IO", SIGIO), ("SYS", SIGSYS),
  ]
}

extension Signal: CustomStringConvertible {
  package var description: String { name }
}

/// Replaces the default action of signals with a closure, on its own thread, where any code may run.
///
/// For a program's `main`, before it has created any thread: a thread that does not block the signals would receive
/// them instead.
package final class SignalListener: Sendable {
  /// The signals listened to. A signal that was ignored when the program started stays ignored and is not included:
  /// `nohup` ignores HUP, a shell's `&` ignores INT.
  package let signals: [Signal]

  /// The signals that `start` listens to by default.
  package static let ending: [Signal] = [.interrupt, .terminate, .hangup, .quit]

  private init(_ signals: [Signal]) { self.signals = signals }

  /// - Parameter handler: Called with each signal, one at a time, in order of arrival. Never from a `@MainActor`
  ///   context: it runs on a different thread.
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

  /// Makes writes to a pipe without a reader fail instead of terminating the process. For a program, not for a library:
  /// the disposition belongs to the process.
  package static func ignoreBrokenPipes() { weft_signal_ignore(Signal.brokenPipe.rawValue) }

  /// Makes writes beyond the limit of file sizes fail instead of terminating the process. For a program, not for a
  /// library.
  package static func ignoreFileSizeLimits() { weft_signal_ignore(Signal.fileSizeLimit.rawValue) }

  /// Restores the default action of SIGCHLD, which a parent may have ignored: the kernel would then reap every child
  /// itself and keep no exit status (POSIX `wait`). For a program's `main`, before its first thread; not for a library.
  package static func restoreChildSignal() { weft_signal_restore(Signal.child.rawValue) }

  /// Restores the default action of SIGQUIT, for which the Swift runtime may print a backtrace, unless it is ignored. For
  /// a program's `main`; not for a library.
  package static func restoreQuitSignal() {
    if weft_signal_is_ignored(Signal.quit.rawValue) == 0 {
      weft_signal_restore(Signal.quit.rawValue)
    }
  }

  /// Promises that the signal dispositions of this process will not change any more. Programs must not inherit them,
  /// and spawns then need not query them each time. For a program, not for a library.
  package static func settleDispositions() { weft_spawn_settle_dispositions() }
}
