/// The failures of a step or group that do not fail the run; they remain distinct from successes.
public enum FailureTolerance: Sendable, Hashable {
  case none
  case all
  case classes([ErrorClass])

  /// Whether a failure that belongs to `classes` (`exit` and `exit:3`, say) is tolerated.
  public func tolerates(_ classes: [ErrorClass]) -> Bool {
    // A person has to decide about work of unknown extent.
    if classes.contains(.inDoubt) { return false }
    return switch self {
    case .none: false
    case .all: true
    case .classes(let tolerated): tolerated.contains(where: classes.contains)
    }
  }
}

/// A class of failures, as named in `allowFailure` and reported in events: `exit`, `exit:3`, `signal`,
/// `signal:KILL`, `spawn`, `timeout`, `stall`, `limit`, `output`, `expression`, `action`, `network`,
/// `network:dns`, `http`, `http:404`, `http:5xx`, `redirect`, `protocol`, `decode`, `runner`,
/// `runner:node-fail`, `limit:memory`, `rejected`.
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
  /// A program ended, but other code in the process that runs Weft collected its exit status.
  public static let lost = ErrorClass(unchecked: "lost")
  public static let timeout = ErrorClass(unchecked: "timeout")
  public static let stall = ErrorClass(unchecked: "stall")
  public static let limit = ErrorClass(unchecked: "limit")
  public static let output = ErrorClass(unchecked: "output")
  public static let expression = ErrorClass(unchecked: "expression")
  /// A service ended before it was ready, or while it was needed.
  public static let service = ErrorClass(unchecked: "service")
  /// An action threw an error.
  public static let action = ErrorClass(unchecked: "action")
  /// No connection, or one that broke before the response was complete.
  public static let network = ErrorClass(unchecked: "network")
  /// An unexpected response.
  public static let http = ErrorClass(unchecked: "http")
  /// Redirects that were not followed.
  public static let redirect = ErrorClass(unchecked: "redirect")
  /// A peer that does not speak HTTP correctly.
  public static let `protocol` = ErrorClass(unchecked: "protocol")
  /// A response that is not in the requested format.
  public static let decode = ErrorClass(unchecked: "decode")
  /// The engine was killed while the step ran; how far it got is unknown. It is never tolerated or retried, so
  /// it has no name in files.
  package static let inDoubt = ErrorClass(unchecked: "inDoubt")
  /// A runner could not be reached, or the connection to it was lost.
  public static let runner = ErrorClass(unchecked: "runner")
  /// A job that its cluster ended, for this reason.
  public static func runner(_ reason: RunnerReason) -> ErrorClass {
    ErrorClass(unchecked: "runner:\(reason.rawValue)")
  }
  /// More memory was needed than was granted.
  public static let memoryLimit = ErrorClass(unchecked: "limit:memory")
  /// An approver said no.
  public static let rejected = ErrorClass(unchecked: "rejected")

  /// An exit with this code.
  public static func exit(_ code: Int) -> ErrorClass { ErrorClass(unchecked: "exit:\(code)") }
  /// Termination by this signal, named without `SIG`.
  public static func signal(_ name: String) -> ErrorClass {
    ErrorClass(unchecked: "signal:\(name)")
  }

  /// A response with this status.
  public static func http(_ status: Int) -> ErrorClass { ErrorClass(unchecked: "http:\(status)") }
  /// A response with a status of this class: 5 is 500 to 599.
  public static func http(hundreds: Int) -> ErrorClass {
    ErrorClass(unchecked: "http:\(hundreds)xx")
  }

  /// The classes of a status, narrowest first.
  package static func classes(ofStatus status: Int) -> [ErrorClass] {
    [.http(status), .http(hundreds: status / 100), .http]
  }
  /// A network failure in this phase.
  public static func network(_ part: NetworkPart) -> ErrorClass {
    ErrorClass(unchecked: "network:\(part.rawValue)")
  }

  /// The reasons for which a cluster ends a job that did nothing wrong.
  public enum RunnerReason: String, Sendable, Hashable, CaseIterable {
    case nodeFail = "node-fail"
    case bootFail = "boot-fail"
    case preempted
    case cancelled
  }

  /// The phases of a request in which the network can fail.
  public enum NetworkPart: String, Sendable, Hashable, CaseIterable {
    case dns, connect, tls, reset, read
  }

  /// The classes without a qualifier, each with its meaning.
  static let described: KeyValuePairs<ErrorClass, String> = [
    .exit: "Any exit code that is not a success.",
    .signal: "Terminated by a signal.",
    .spawn: "The program could not be started.",
    .lost: "Its exit status was lost.",
    .timeout: "The time limit passed.",
    .stall: "It wrote nothing for longer than allowed.",
    .limit: "An argument or environment value is longer than the system passes.",
    .output: "Its output, or what it wrote to $WEFT_OUTPUT, is not the declared value.",
    .expression: "An expression could not be evaluated.",
    .service: "A service ended while steps needed it.",
    .action: "An action threw an error.",
    .network: "The connection failed.",
    .http: "The response was not expected.",
    .redirect: "A redirect was not followed.",
    .protocol: "The server violated the HTTP protocol.",
    .decode: "The response could not be decoded.",
    .runner: "A host or cluster could not run it.",
    .rejected: "An approver said no.",
  ]

  /// The classes without a qualifier.
  public static let plain: [ErrorClass] = described.map(\.key)

  /// The classes of jobs that their cluster ended.
  static let ofClusters = [memoryLimit] + RunnerReason.allCases.map(runner)

  private static func isKnown(_ name: String) -> Bool {
    if (plain + ofClusters).contains(where: { $0.name == name }) { return true }
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
  /// Signals that can end a program.
  public static let all: Set<String> = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "VTALRM", "PROF", "XCPU", "XFSZ", "IO", "PWR", "SYS",
  ]

  /// Signals by which a program can be asked to end: every system has them, and a program can catch them.
  /// WINCH ends nothing by itself, but asks some servers to end gracefully.
  public static let ofStopping = [
    "TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ABRT", "ALRM", "PIPE", "WINCH", "ILL", "TRAP",
    "BUS",
    "FPE", "SEGV", "SYS", "IO", "PROF", "VTALRM", "XCPU", "XFSZ",
  ]
}
