import Synchronization
import Weft
import WeftEvents
import WeftExecution
import WeftFutures
import WeftHTTP
import WeftPlatform

/// The trace of one run on its way to the collector: takes events, and does what ``RunSpans`` and ``ExportQueue`` decide.
final class SpanExport: Sendable {
  private let traced: TracedRun
  private let settings: TelemetrySettings
  private let client: HTTPClient
  private let wakeup = Wakeup()
  private let reply = Mutex<CollectorReply?>(nil)
  private let promise: Promise<TraceDelivery, Never>

  /// The delay for taking events in quick succession together, and the number that ends it early.
  private static let pause = Duration.milliseconds(100)
  private static let manyEvents = 1000

  init(_ traced: TracedRun, _ settings: TelemetrySettings, _ client: HTTPClient) {
    (self.traced, self.settings, self.client) = (traced, settings, client)
    promise = Promise(ifDropped: .success(TraceDelivery(traced.id, settings, .init())))
  }

  var delivery: Future<TraceDelivery, Never> { promise.future }

  /// Whether the run has ended or is suspended.
  var hasEnded: Bool { traced.live.completion.outcome != nil }

  func fail(_ reason: String) {
    var losses = ExportQueue.Losses()
    (losses.late, losses.reason) = (1, reason)
    promise.succeed(TraceDelivery(traced.id, settings, losses))
  }

  /// Sends the trace. Returns when the run has ended and its spans are sent or given up.
  func run() {
    var spans = RunSpans(traced.trace, traced.plan)
    var queue = ExportQueue(seed: traced.trace.context.span.number)
    var message: TraceMessage?
    var exchange: Future<HTTPResponse, HTTPFailure>?
    var (isOver, isBusy) = (false, false)
    while true {
      let events = isOver ? nil : traced.events.takeAll()
      let now = MonotonicClock.now
      for event in events ?? [] {
        if case .runStarted(let start) = event.kind { message = self.message(start) }
        spans.apply(event)
      }
      if let message {
        for span in spans.takeEnded() { queue.append(message.encoded(span), at: now) }
      }
      if events == nil, !isOver {
        isOver = true
        queue.finish(at: now)
      }
      isBusy = events?.isEmpty == false
      if let reply = reply.withLock({ $0.take() }) { queue.answered(reply, at: now) }
      switch queue.next(at: now) {
      case .send(let batch):
        guard let message else { continue }
        exchange = send(message.request(batch))
      case .wait(let time):
        wait(until: time, isOver: isOver, isBusy: isBusy)
      case .end:
        guard isOver else { continue }
        exchange?.cancel()
        promise.succeed(TraceDelivery(traced.id, settings, queue.losses))
        return
      }
    }
  }

  private func message(_ start: RunStart) -> TraceMessage {
    let mask = traced.live.secrets.mask
    let resource = settings.resource(of: start).map { attribute in
      guard case .text(let text) = attribute.value else { return attribute }
      return SpanAttribute(attribute.key, mask.masked(text))
    }
    return TraceMessage(
      of: traced.trace.context, startedAt: start.startedAt, resource: resource)
  }

  private func wait(until time: Duration?, isOver: Bool, isBusy: Bool) {
    var limit = time.map { $0 - MonotonicClock.now }
    if !isOver {
      let wakeup = wakeup
      traced.events.whenReady(count: isBusy ? SpanExport.manyEvents : 1) { wakeup.wake() }
      if isBusy { limit = min(limit ?? SpanExport.pause, SpanExport.pause) }
    }
    wakeup.wait(atMost: limit)
  }

  private func send(_ body: [UInt8]) -> Future<HTTPResponse, HTTPFailure> {
    var request = HTTPRequest(settings.endpoint, method: .post, headers: settings.headers)
    request.headers.addIfMissing(
      HTTPHeader("User-Agent", "OTel-OTLP-Exporter-weft/\(WeftVersion.current)"))
    request.body = .bytes(body, contentType: "application/x-protobuf")
    request.deadlines = HTTPDeadlines(total: settings.timeout)
    // Only the collector that the user has named gets the headers.
    request.redirects = RedirectRule(limit: 0)
    request.maxBytes = 1 << 20
    request.wantsCompression = false
    request.proxy = settings.proxy
    request.tls = settings.tls
    let exchange = client.send(request)
    exchange.whenSettled { [self] result in
      let seconds = WallClock.now.nanoseconds / 1_000_000_000
      reply.withLock { $0 = CollectorReply(result, now: seconds) }
      wakeup.wake()
    }
    return exchange
  }
}
