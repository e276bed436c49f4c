import Synchronization
public import Weft
import WeftCurl
public import WeftEvents
public import WeftExecution
import WeftFutures
public import WeftHTTP
import WeftPlatform

/// Sends the runs of engines as traces to an OpenTelemetry collector, by OTLP over HTTP.
///
/// ```swift
/// import Weft
/// import WeftTelemetry
///
/// let telemetry = OpenTelemetry(try TelemetrySettings(collector: "http://localhost:4318"))
/// let engine = Engine(tracer: telemetry)
/// let run = try engine.start(workflow)
/// print(await run.report.succeeded)
/// await telemetry.flush()
/// ```
///
/// Spans leave while a run goes on, on a thread of their own: a slow collector slows down no run. When a run has ended,
/// there is one second left for the rest. The module's tour: `RunSpans` folds events into spans, `TraceMessage` encodes
/// them, `ExportQueue` and `CollectorReply` decide what is sent and lost, and `SpanExport` acts on that.
public final class OpenTelemetry: RunTracer {
  private let settings: TelemetrySettings
  private let client: HTTPClient
  private let onDelivery: @Sendable (TraceDelivery) -> Void
  private let threads = ThreadPool()
  private let exports = Mutex<[RunID: SpanExport]>([:])

  /// - Parameters:
  ///   - transport: Sends the requests; `nil` uses libcurl.
  ///   - onDelivery: Called once for each run when its trace has been sent, or given up, on a thread that may block.
  public init(
    _ settings: TelemetrySettings, transport: (any Transport)? = nil,
    onDelivery: @escaping @Sendable (TraceDelivery) -> Void = { _ in }
  ) {
    self.settings = settings
    self.onDelivery = onDelivery
    client = HTTPClient(transport: transport ?? CurlTransport())
  }

  public func trace(_ run: RunID, continuing earlier: TraceContext?) -> RunTrace? {
    RunTrace(inheriting: settings.parent, continuing: earlier)
  }

  public func follow(_ run: TracedRun) {
    // A parent that is not sampled has no spans below it either.
    guard run.trace.context.isSampled else { return }
    let export = SpanExport(run, settings, client)
    exports.withLock { $0[run.id] = export }
    export.delivery.whenSettled { [weak self, onDelivery] result in
      onDelivery(result.get())
      self?.exports.withLock { _ = $0.removeValue(forKey: run.id) }
    }
    do {
      try threads.submit { export.run() }
    } catch {
      export.fail(error.message)
    }
  }

  /// Waits until the traces of all runs that have ended are sent or given up: a second at most after their ends.
  public func flush() async {
    let ended = exports.withLock { $0.values.filter(\.hasEnded) }
    for export in ended { _ = await export.delivery.value }
  }

  /// Blocks as ``flush()`` waits.
  package func waitUntilFlushed() {
    let ended = exports.withLock { $0.values.filter(\.hasEnded) }
    for export in ended {
      let wakeup = Wakeup()
      export.delivery.whenSettled { _ in wakeup.wake() }
      while export.delivery.outcome == nil { wakeup.wait() }
    }
  }
}

/// The fate of the trace of a run.
public struct TraceDelivery: Sendable, Hashable {
  /// The run's ID.
  public let run: RunID
  /// Scheme, host and port of the collector.
  public let collector: String
  /// The number of spans that the collector has accepted.
  public let sent: Int
  /// The number of those that it has not, as far as is known.
  public let lost: Int
  /// The reason for the losses; `nil` if there are none.
  public let reason: String?
  /// A remark about what was sent; usually `nil`.
  public let remark: String?

  /// A sentence without a full stop; `nil` if all is well.
  public var message: String? {
    if lost > 0 {
      let spans = "\(lost) of \(lost + sent) spans of the trace"
      return "\(spans) did not reach the collector at \(collector): \(reason ?? "unknown reason")"
    }
    return remark.map { "the collector at \(collector) has the trace, but: \($0)" }
  }

  init(_ run: RunID, _ settings: TelemetrySettings, _ losses: ExportQueue.Losses) {
    self.run = run
    collector = settings.endpoint.origin.description
    (sent, lost, remark) = (losses.sent, losses.count, losses.remark)
    let overflow =
      losses.dropped > 0 ? "\(losses.dropped) were dropped because it was too slow" : nil
    let reasons = [losses.reason, losses.refused > 0 ? losses.remark : nil, overflow]
    reason = lost > 0 ? reasons.compactMap(\.self).joined(separator: "; ") : nil
  }
}

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
