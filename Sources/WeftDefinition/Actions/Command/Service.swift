import WeftDiagnostics
import WeftJSON
import WeftPatterns

extension Command {
  /// The settings of a command that keeps running while other steps use it.
  ///
  /// Its step counts as done as soon as the service is ready. It is terminated when the group that contains it, or the
  /// run, ends.
  public struct Service: Sendable, Hashable {
    /// A way to find out that a service is ready.
    public enum Probe: Sendable, Hashable {
      /// A connection to this `host:port` can be opened.
      case tcp(String)
      /// A request for this URL gets a status from 200 to 399.
      case http(String)
      /// A line of its output contains a match of this pattern.
      case log(String)
      /// This command succeeds, in the directory and environment of the service.
      case run(Invocation)
    }

    public var ready: Probe
    /// The longest time from a start until it is ready.
    @Computable public var timeout: Duration
    /// The number of times it is started again after it has ended although it was needed.
    @Computable public var restarts: Int

    public init(ready: Probe, timeout: Duration = Service.timeout, restarts: Int = 0) {
      self.ready = ready
      self.timeout = timeout
      self.restarts = restarts
    }

    /// One minute.
    public static let timeout = Duration.seconds(60)
  }

  /// Whether and when other steps can use it while it runs; `nil` for a command that ends by itself.
  public var service: Service? {
    get { hasOptions ? options.service : nil }
    set { options.service = newValue }
  }
}

extension Command.Service {
  /// Its text that may contain expressions.
  var text: String? {
    switch ready {
    case .tcp(let text), .http(let text): text
    case .log, .run: nil
    }
  }

  /// Sets the address that is probed to the value that its text evaluated to.
  package mutating func setAddress(_ text: String) {
    switch ready {
    case .tcp: ready = .tcp(text)
    case .http: ready = .http(text)
    case .log, .run: break
    }
  }

  /// The host and the port of an address for ``Probe/tcp(_:)``; `nil` if it is not one. The host may be an IPv6 address
  /// in brackets.
  package static func endpoint(_ text: String) -> (host: String, port: UInt16)? {
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...]), port > 0
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 }) else { return nil }
    return (String(host), port)
  }

  /// The problem with an address, pattern or URL; `nil` if there is none.
  static func problem(with ready: Probe, path: String) -> Diagnostic? {
    switch ready {
    case .tcp(let text) where !text.hasExpression && endpoint(text) == nil:
      return Diagnostic(
        .unfitValue, "\(path).tcp is \(quoted(text)), expected a host and a port",
        help: "write \"127.0.0.1:5432\"")
    case .http(let text)
    where !text.hasExpression && !text.hasPrefix("http://") && !text.hasPrefix("https://"):
      return Diagnostic(
        .unfitValue, "\(path).http is \(quoted(text)), expected a URL",
        help: "write \"http://127.0.0.1:8080/\"")
    case .log(let text):
      do throws(PatternError) {
        _ = try Pattern(text)
        return nil
      } catch {
        return Diagnostic(
          .pattern, "\(path).log is not a valid pattern: \(error.message)", help: error.help)
      }
    case .tcp, .http, .run: return nil
    }
  }

  /// A few words for the plan.
  var remark: String {
    switch ready {
    case .tcp(let address): "service, ready at \(address)"
    case .http(let url): "service, ready at \(url)"
    case .log(let pattern): "service, ready at output \(pattern)"
    case .run: "service, ready when a probe succeeds"
    }
  }

  func write(to writer: inout JSONWriter) {
    writer.object("service") { writer in
      writer.object("ready") {
        switch ready {
        case .tcp(let address): $0.member("tcp", address)
        case .http(let url): $0.member("http", url)
        case .log(let pattern): $0.member("log", pattern)
        case .run(.program(let arguments)):
          $0.key("run")
          $0.beginArray()
          for argument in arguments { $0.string(argument) }
          $0.endArray()
        case .run(let invocation): $0.member("run", invocation.script ?? "")
        }
      }
      if timeout != Command.Service.timeout {
        writer.member("timeout", DurationText.text(of: timeout))
      }
      if restarts != 0 { writer.member("restart", restarts) }
    }
  }
}

// MARK: The file format

/// `service` while its keys are read.
struct ServiceDraft: FormatObject {
  var ready: Command.Service.Probe?
  @Computable var timeout = Command.Service.timeout
  @Computable var restarts = 0

  static let format = ObjectFormat<ServiceDraft>("\"service\"") {
    FormatKey(
      "ready", "Readiness",
      "How it is found out that other steps can use the service: one probe.",
      schema: #"""
        {"$ref": "ready", "examples": [{"tcp": "127.0.0.1:5432"}, {"http":
        "http://127.0.0.1:8080/health"}, {"log": "listening on"}, {"run": ["pg_isready"]}]}
        """#,
      synonyms: "readiness readinessProbe readiness_probe healthcheck health probe wait",
      required: "\"ready\": { \"tcp\": \"127.0.0.1:5432\" }"
    ) { pass, member, field, draft in draft.ready = pass.probe(member.value, field) }
    FormatKey(
      "timeout", .duration(as: .serviceTimeout), "Time until ready",
      "The longest time from a start until it is ready; after it, the step fails.",
      schema: #"{"default": "1m", "examples": ["10s"]}"#, at: \.$timeout)
    FormatKey(
      "restart", .integer(as: .serviceRestarts), "Restarts",
      "How often it is started again if it ends although it is needed.",
      schema: #"{"default": 0, "examples": [3]}"#, synonyms: "restarts max_restarts maxRestarts",
      at: \.$restarts)
  }
}

/// `ready` while its keys are read.
struct ProbeDraft: FormatObject {
  var probes: [Command.Service.Probe] = []
  /// The number of keys found, whether or not their values are valid.
  var count = 0

  static let schema: StaticString = #"""
    {"oneOf": [{"required": ["tcp"]}, {"required": ["http"]}, {"required": ["log"]},
    {"required": ["run"]}]}
    """#

  static let format = ObjectFormat<ProbeDraft>("\"ready\"") {
    FormatKey(
      "tcp", .text("a host and a port", at: .probe), "Address",
      "A host and a port, to which a connection can be opened.",
      schema: #"{"examples": ["127.0.0.1:5432", "[::1]:6379"]}"#, synonyms: "port connect"
    ) { $0.probes.append(.tcp($1)) }
    FormatKey(
      "http", .text("a URL", at: .probe), "URL",
      "A URL; the service is ready when a request for it gets a status from 200 to 399.",
      schema: #"{"examples": ["http://127.0.0.1:8080/health"]}"#, synonyms: "url get httpGet"
    ) { $0.probes.append(.http($1)) }
    FormatKey(
      "log", .plainText("a pattern"), "Pattern",
      "A regular expression; the service is ready when a line of its output has a match.",
      schema: #"{"examples": ["listening on", "^ready"]}"#, synonyms: "output line pattern"
    ) { $0.probes.append(.log($1)) }
    FormatKey(
      "run", ValueFormat { $0.probeCommand($1, $2) }, "Command",
      """
      A script or a program, without expressions; the service is ready when it succeeds. It has \
      the service's directory and environment, and a second for its answer.
      """,
      schema: #"""
        {"anyOf": ["@filledLiteralText", "@words"], "examples": [["pg_isready"]]}
        """#, synonyms: "command cmd exec test"
    ) { $0.probes.append(.run($1)) }
  }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    count += 1
    return true
  }
}

extension DecodingPass {
  mutating func service(_ node: JSONNode, _ field: Field) -> Command.Service? {
    let draft = object(
      node, field, from: ServiceDraft(), wanted: "an object with \"ready\"",
      help: "write { \"ready\": { \"tcp\": \"127.0.0.1:5432\" } }")
    guard let draft, let ready = draft.ready else { return nil }
    var service = Command.Service(ready: ready)
    service.$timeout = draft.$timeout
    service.$restarts = draft.$restarts
    return service
  }

  fileprivate mutating func probe(_ node: JSONNode, _ field: Field) -> Command.Service.Probe? {
    let wanted = "an object with one of \"tcp\", \"http\", \"log\" and \"run\""
    guard
      isObject(node, field, wanted: wanted, help: "write { \"tcp\": \"127.0.0.1:5432\" }")
    else { return nil }
    var draft = ProbeDraft()
    let reading = read(node, field, into: &draft)
    guard draft.count == 1 else {
      if !reading.hasUnknownKey {
        reportType(
          of: node, field, found: draft.count == 0 ? "an empty object" : "\(draft.count) probes",
          wanted: wanted)
      }
      return nil
    }
    guard let probe = draft.probes.first else { return nil }
    if let problem = Command.Service.problem(with: probe, path: path(field)) {
      report(problem, at: node.members.first { _ in true }?.value ?? node)
      return nil
    }
    return probe
  }

  fileprivate mutating func probeCommand(
    _ node: JSONNode, _ field: Field
  ) -> Command.Invocation? {
    switch node.kind {
    case .string: filledText(node, field, wanted: "a script").map(Command.Invocation.script)
    case .array: arguments(node, field).map(Command.Invocation.program)
    default:
      {
        reportType(
          of: node, field, wanted: "a script, or an array of a program and its arguments",
          help: "write [\"pg_isready\"]")
        return nil
      }()
    }
  }

  // MARK: Combinations

  /// Reports keys that a service cannot have.
  mutating func checkService(of draft: StepDraft, at node: JSONNode) {
    guard draft.command.service != nil, let service = draft.placedKey("service") else { return }
    for (key, reason) in Command.Service.apart {
      guard let other = member(key, of: node)?.key else { continue }
      report(
        Diagnostic(.keysApart, "\"service\" cannot be combined with \"\(key)\"", help: reason),
        at: service, related: ("\"\(key)\" is here", other))
    }
  }
}

extension Command.Service {
  /// The keys that a service cannot have, each with what to do instead.
  static let apart = [
    (
      "timeout",
      "a service runs as long as it is needed; \"timeout\" in \"service\" limits its start"
    ),
    ("retry", "write \"restart\" in \"service\""),
    ("cache", "a program that keeps running cannot be cached"),
    ("tty", "a service shares the terminal with the steps that use it"),
    ("forEach", "put the service and the steps that use it into a group, and \"forEach\" there"),
    ("matrix", "put the service and the steps that use it into a group, and \"matrix\" there"),
    ("leftovers", "a service is terminated with everything that it started"),
  ]
}
