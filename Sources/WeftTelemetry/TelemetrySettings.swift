public import WeftEvents
public import WeftHTTP

/// The collector that receives traces, and what the traces say of their sender.
public struct TelemetrySettings: Sendable {
  /// The URL to which spans are posted. User and password in it are sent as such.
  public var endpoint: HTTPURL
  /// Headers of each request, such as an API key. They are shown nowhere.
  public var headers = HTTPHeaders()
  /// Attributes of the resource. `service.name` is `weft` unless it is among them.
  public var resource: [(name: String, value: String)] = []
  /// The time limit of a request.
  public var timeout = Duration.seconds(10)
  /// Authorities that override those of the system, and a client certificate.
  public var tls = TLSFiles()
  /// The proxies that the environment names, by default.
  public var proxy = HTTPProxy.environment
  /// The span that the program was started by, and that becomes the parent of each run; `nil` if there is none.
  public var parent: TraceContext?

  /// - Parameter url: The base URL of a collector that speaks OTLP over HTTP: `http://localhost:4318`. `/v1/traces` is
  ///   appended to its path.
  public init(collector url: String) throws(HTTPURLError) {
    _ = try HTTPURL(url)
    let whole = url.prefix { $0 != "#" }
    let path = whole.prefix { $0 != "?" }
    let base = path.reversed().drop { $0 == "/" }.reversed()
    self.init(endpoint: try HTTPURL(String(base) + "/v1/traces" + whole[path.endIndex...]))
  }

  /// - Parameter endpoint: The URL to which spans are posted, as it is.
  public init(endpoint: HTTPURL) { self.endpoint = endpoint }
}

extension TelemetrySettings {
  /// The attributes of the resource of a run.
  func resource(of run: RunStart) -> [SpanAttribute] {
    let own = [
      ("service.name", "weft"), ("telemetry.sdk.name", "weft"),
      ("telemetry.sdk.language", "swift"), ("telemetry.sdk.version", WeftVersion.current),
      (AttributeKey.pipeline, run.workflow), (AttributeKey.pipelineRun, run.run.text),
    ]
    let given = Set(resource.map(\.name))
    return resource.map { SpanAttribute($0.name, $0.value) }
      + own.compactMap { name, value in
        given.contains(name) ? nil : value.map { SpanAttribute(name, $0) }
      }
  }
}
