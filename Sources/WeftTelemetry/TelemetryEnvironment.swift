import WeftDiagnostics
import WeftEncoding
import WeftEvents
import WeftExecution
import WeftHTTP
import WeftPlatform

/// The settings that the variables of OpenTelemetry make, and what is wrong with those.
///
/// An empty variable counts as unset. A malformed one is ignored, with a problem that names it and never shows its value,
/// which may be a credential. Variables for traces alone take precedence over those for all signals.
public struct TelemetryEnvironment: Sendable {
  /// `nil` if traces are not to be sent.
  public let settings: TelemetrySettings?
  /// Sentences without a full stop.
  public let problems: [String]

  /// Reads the variables of this process.
  public init() { self.init(collector: nil) { ThisProcess.variable($0) } }

  /// - Parameters:
  ///   - collector: Settings that a user has asked for. They win over every variable that names a collector.
  ///   - read: Returns the value of a variable.
  package init(collector: TelemetrySettings?, reading read: @escaping (String) -> String?) {
    var reader = VariableReader(read)
    settings = reader.settings(collector)
    problems = reader.problems
  }
}

private struct VariableReader {
  private(set) var problems: [String] = []
  private let read: (String) -> String?

  init(_ read: @escaping (String) -> String?) {
    self.read = { name in read(name).flatMap { $0.isEmpty ? nil : $0 } }
  }

  mutating func settings(_ collector: TelemetrySettings?) -> TelemetrySettings? {
    if flag("OTEL_SDK_DISABLED") {
      if collector != nil { problems.append("OTEL_SDK_DISABLED is true: no trace is sent") }
      return nil
    }
    guard var settings = collector ?? endpoint() else { return nil }
    if let headers = value("HEADERS") { settings.headers = self.headers(headers) }
    settings.resource = resource()
    if let timeout = value("TIMEOUT") {
      if let milliseconds = Int64(timeout.text), (1...86_400_000).contains(milliseconds) {
        settings.timeout = .milliseconds(milliseconds)
      } else {
        problems.append(
          "\(timeout.name) is not a number of milliseconds: 10000 is used instead")
      }
    }
    settings.tls = TLSFiles(
      authorities: value("CERTIFICATE")?.text, certificate: value("CLIENT_CERTIFICATE")?.text,
      key: value("CLIENT_KEY")?.text)
    settings.parent = parent()
    return settings
  }

  private typealias Variable = (name: String, text: String)

  /// A variable of the exporter, for traces or for all signals.
  private func value(_ name: String) -> Variable? {
    for name in ["OTEL_EXPORTER_OTLP_TRACES_\(name)", "OTEL_EXPORTER_OTLP_\(name)"] {
      if let text = read(name) { return (name, text) }
    }
    return nil
  }

  private mutating func flag(_ name: String) -> Bool {
    switch read(name)?.lowercased() {
    case nil, "false": return false
    case "true": return true
    default:
      problems.append("\(name) is neither true nor false: it counts as false")
      return false
    }
  }

  // MARK: The collector

  private mutating func endpoint() -> TelemetrySettings? {
    if let exporters = read("OTEL_TRACES_EXPORTER"),
      !exporters.split(separator: ",").contains(where: { trimmed($0) == "otlp" })
    {
      return nil
    }
    guard let endpoint = value("ENDPOINT") else { return nil }
    let settings: TelemetrySettings
    do throws(HTTPURLError) {
      settings =
        endpoint.name.contains("TRACES")
        ? TelemetrySettings(endpoint: try HTTPURL(endpoint.text))
        : try TelemetrySettings(collector: endpoint.text)
    } catch {
      problems.append("\(endpoint.name) is not the URL of a collector: no trace is sent")
      return nil
    }
    if let form = value("PROTOCOL"), !["http/protobuf", "http/json"].contains(form.text) {
      problems.append(
        "\(form.name) is not http/protobuf, the only protocol that weft has: no trace is sent")
      return nil
    }
    return settings
  }

  private mutating func headers(_ variable: Variable) -> HTTPHeaders {
    var headers: [HTTPHeader] = []
    var (seen, unfit) = (Set<String>(), 0)
    // The last value of a name counts.
    for (name, value) in pairs(variable).reversed() {
      let header = HTTPHeader(name, value, isSecret: true)
      let isOwn = name.lowercased().hasPrefix("content-")
      if isOwn || (try? header.check()) == nil {
        unfit += 1
      } else if seen.insert(name.lowercased()).inserted {
        headers.append(header)
      }
    }
    if unfit > 0 {
      problems.append(
        "\(Count(unfit, "header")) in \(variable.name) cannot be sent, and \(left(out: unfit))")
    }
    return HTTPHeaders(Array(headers.reversed()))
  }

  // MARK: The resource

  private mutating func resource() -> [(name: String, value: String)] {
    let name = "OTEL_RESOURCE_ATTRIBUTES"
    let given = read(name).map { pairs((name, $0)) } ?? []
    let service = read("OTEL_SERVICE_NAME").map { [("service.name", $0)] } ?? []
    // The last value of a name counts.
    var seen: Set<String> = []
    return Array((given + service).reversed().filter { seen.insert($0.0).inserted }.reversed())
      .map { (name: $0.0, value: $0.1) }
  }

  /// Reads `name=value,name=value`, both percent-encoded, as in W3C Baggage.
  private mutating func pairs(_ variable: Variable) -> [(String, String)] {
    var pairs: [(String, String)] = []
    var unfit = 0
    for entry in variable.text.split(separator: ",") {
      let entry = trimmed(entry)
      if entry.isEmpty { continue }
      let halves = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = PercentEncoding.decoded(trimmed(halves[0]))
      guard halves.count == 2, !name.isEmpty else {
        unfit += 1
        continue
      }
      pairs.append((name, PercentEncoding.decoded(trimmed(halves[1]))))
    }
    if unfit > 0 {
      problems.append(
        "\(Count(unfit, "part")) of \(variable.name) \(unfit == 1 ? "is" : "are") not NAME=VALUE, and "
          + left(out: unfit))
    }
    return pairs
  }

  private func left(out count: Int) -> String { count == 1 ? "is left out" : "are left out" }

  private func trimmed(_ text: some StringProtocol) -> String {
    let isSpace = { (character: Character) in character == " " || character == "\t" }
    let tail = text.drop(while: isSpace).reversed().drop(while: isSpace)
    return String(tail.reversed())
  }

  // MARK: The parent

  private mutating func parent() -> TraceContext? {
    guard let text = read(TraceVariable.parent) else { return nil }
    let context = TraceContext(parent: text, state: read(TraceVariable.state))
    if context == nil {
      problems.append("\(TraceVariable.parent) is malformed: the run begins a trace of its own")
    } else if read(TraceVariable.state) != nil, context?.state == nil {
      problems.append("\(TraceVariable.state) is malformed: it is not passed on")
    }
    return context
  }
}
