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
  package static let windowChange = Signal(rawValue: SIGWINCH)

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
