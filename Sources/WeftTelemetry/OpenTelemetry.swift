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
