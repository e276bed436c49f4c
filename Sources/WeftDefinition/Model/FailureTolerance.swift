/// Which failures of a step or group the run survives; they are still told apart from success.
public enum FailureTolerance: Sendable, Hashable {
  case none
  case all
  case classes([ErrorClass])

  /// Whether a failure that belongs to `classes` (`exit` and `exit:3`, say) is tolerated.
  public func tolerates(_ classes: [ErrorClass]) -> Bool {
    // Work of unknown extent is for a person to decide about.
    if classes.contains(.inDoubt) { return false }
    return switch self {
    case .none: false
    case .all: true
    case .classes(let tolerated): tolerated.contains(where: classes.contains)
    }
  }
}

/// A kind of failure, as it is named in `allowFailure` and told in events: `exit`, `exit:3`,
/// `signal`, `signal:KILL`, `spawn`, `timeout`, `stall`, `limit`, `output`, `expression`, `action`, `network`,
/// `network:dns`, `http`, `http:404`, `http:5xx`, `redirect`, `protocol`, `decode`, `rejected`.
public struct ErrorClass: Sendable, Hashable, CustomStringConvertible {
  public let name: String

  package init(unchecked name: String) {
    self.name = name
  }

  /// `nil` if there is no such class.
  public init?(_ name: String) {
    guard ErrorClass.isKnown(name) else { return nil }
    self.name = name
  }

  public static let exit = ErrorClass(unchecked: "exit")
  public static let signal = ErrorClass(unchecked: "signal")
  public static let spawn = ErrorClass(unchecked: "spawn")
  /// A program has ended, and its exit status was taken by other code of the process that runs Weft.
  public static let lost = ErrorClass(unchecked: "lost")
  public static let timeout = ErrorClass(unchecked: "timeout")
  public static let stall = ErrorClass(unchecked: "stall")
  public static let limit = ErrorClass(unchecked: "limit")
  public static let output = ErrorClass(unchecked: "output")
  public static let expression = ErrorClass(unchecked: "expression")
  /// An action threw an error.
  public static let action = ErrorClass(unchecked: "action")
  /// No connection, or none that held until the answer was there.
  public static let network = ErrorClass(unchecked: "network")
  /// An answer that was not expected.
  public static let http = ErrorClass(unchecked: "http")
  /// Redirects that were not followed.
  public static let redirect = ErrorClass(unchecked: "redirect")
  /// What answered does not speak HTTP as it should.
  public static let `protocol` = ErrorClass(unchecked: "protocol")
  /// An answer that is not what it was asked to be.
  public static let decode = ErrorClass(unchecked: "decode")
  /// The engine was killed while it ran; how far it got is unknown. Nothing tolerates it, and nothing is
  /// tried again for it, so that it has no name in files.
  package static let inDoubt = ErrorClass(unchecked: "inDoubt")
  /// A person who was asked said no.
  public static let rejected = ErrorClass(unchecked: "rejected")

  /// An exit with this code.
  public static func exit(_ code: Int) -> ErrorClass { ErrorClass(unchecked: "exit:\(code)") }
  /// An end by this signal, named without `SIG`.
  public static func signal(_ name: String) -> ErrorClass {
    ErrorClass(unchecked: "signal:\(name)")
  }

  /// An answer of this status.
  public static func http(_ status: Int) -> ErrorClass { ErrorClass(unchecked: "http:\(status)") }
  /// An answer of one of these hundred: 5 is all from 500 to 599.
  public static func http(hundreds: Int) -> ErrorClass {
    ErrorClass(unchecked: "http:\(hundreds)xx")
  }
  /// Where on its way the connection failed.
  public static func network(_ part: NetworkPart) -> ErrorClass {
    ErrorClass(unchecked: "network:\(part.rawValue)")
  }

  /// Parts of the way to an answer.
  public enum NetworkPart: String, Sendable, Hashable, CaseIterable {
    case dns, connect, tls, reset, read
  }

  /// The classes that stand for themselves.
  public static let plain: [ErrorClass] = [
    .exit, .signal, .spawn, .lost, .timeout, .stall, .limit, .output, .expression, .action,
    .network, .http, .redirect, .protocol, .decode, .rejected,
  ]

  private static func isKnown(_ name: String) -> Bool {
    if plain.contains(where: { $0.name == name }) { return true }
    if name.hasPrefix("exit:"), let code = Int(name.dropFirst(5)) {
      return (1...255).contains(code) && name == "exit:\(code)"
    }
    if name.hasPrefix("http:") { return HTTPCall.isStatus(String(name.dropFirst(5))) }
    if name.hasPrefix("network:") { return NetworkPart(rawValue: String(name.dropFirst(8))) != nil }
    return name.hasPrefix("signal:") && SignalName.all.contains(String(name.dropFirst(7)))
  }

  public var description: String { name }
}

/// Signals by name (POSIX `signal.h`, and those that Linux adds).
public enum SignalName {
  /// Those that can end a program.
  public static let all: Set<String> = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "VTALRM", "PROF", "XCPU", "XFSZ", "IO", "PWR", "SYS",
  ]

  /// Those by which a program can be asked to end: every system has them, and a program can catch them.
  /// WINCH ends nothing by itself, but is how some servers are asked to end gracefully.
  public static let ofStopping = [
    "TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ABRT", "ALRM", "PIPE", "WINCH", "ILL", "TRAP",
    "BUS",
    "FPE", "SEGV", "SYS", "IO", "PROF", "VTALRM", "XCPU", "XFSZ",
  ]
}
