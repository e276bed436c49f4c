import Synchronization
import Weft
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftFutures
import WeftHTTP
import WeftJSON
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

/// The meaning of a collector's answer to a request, by the rules of OTLP over HTTP.
enum CollectorReply: Sendable, Hashable {
  /// It has the spans, except for a number that it rejected; possibly with a remark.
  case accepted(rejected: Int, remark: String?)
  /// A repetition of the request may succeed: not sooner than after a delay, if it asks for one.
  case tryLater(after: Duration?, reason: String)
  /// It will never have these spans.
  case refused(reason: String)

  init(_ result: Result<HTTPResponse, HTTPFailure>, now: Int64) {
    switch result {
    case .success(let response): self.init(response, now: now)
    case .failure(let failure):
      self =
        failure.isTransient
        ? .tryLater(after: nil, reason: failure.message) : .refused(reason: failure.message)
    }
  }

  private init(_ response: HTTPResponse, now: Int64) {
    let (status, body) = (response.status, response.body)
    switch status {
    case 200..<300: self = CollectorReply.accepted(body, response.head.contentType)
    case 429, 502, 503, 504:
      self = .tryLater(
        after: response.head.retryAfter(now: now),
        reason: CollectorReply.answer(status, CollectorReply.message(in: body)))
    case 300..<400:
      let target = response.headers["location"].flatMap { try? HTTPURL($0) }
      self = .refused(
        reason: target.map { "it redirects to \($0.origin), which is not followed" }
          ?? CollectorReply.answer(status, nil))
    default:
      self = .refused(reason: CollectorReply.answer(status, CollectorReply.message(in: body)))
    }
  }

  private static func answer(_ status: Int, _ message: String?) -> String {
    message.map { "it answered \(status): \($0)" } ?? "it answered \(status)"
  }

  private static func accepted(_ body: [UInt8], _ type: MediaType?) -> CollectorReply {
    if body.isEmpty { return .accepted(rejected: 0, remark: nil) }
    if type?.isJSON == true { return acceptedInJSON(body) }
    do throws(ProtobufReader.Malformed) {
      var (rejected, message) = (0, String?.none)
      var reader = ProtobufReader(body[...])
      while let (field, value) = try reader.next() {
        guard field == 1, case .data(let partial) = value else { continue }
        var inner = ProtobufReader(partial)
        while let (field, value) = try inner.next() {
          switch (field, value) {
          case (1, .number(let count)): rejected = Int(clamping: Int64(bitPattern: count))
          case (2, .data(let text)): message = String(decoding: text, as: UTF8.self)
          default: break
          }
        }
      }
      return .accepted(rejected: max(0, rejected), remark: message.flatMap(shown))
    } catch {
      return .accepted(rejected: 0, remark: strange)
    }
  }

  private static func acceptedInJSON(_ body: [UInt8]) -> CollectorReply {
    guard let value = try? JSONValue(text: String(decoding: body, as: UTF8.self)),
      case .object(let object) = value
    else { return .accepted(rejected: 0, remark: strange) }
    guard case .object(let partial)? = object["partialSuccess"] else {
      return .accepted(rejected: 0, remark: nil)
    }
    var (rejected, message) = (0, String?.none)
    if let count = partial["rejectedSpans"] {
      // A number of 64 bits is a text in the JSON of Protocol Buffers.
      if case .string(let digits) = count {
        rejected = Int(digits) ?? 0
      } else {
        rejected = Int(count.description) ?? 0
      }
    }
    if case .string(let text)? = partial["errorMessage"] { message = text }
    return .accepted(rejected: max(0, rejected), remark: message.flatMap(shown))
  }

  private static let strange = "its reply is not one of a collector"

  /// The message of a `google.rpc.Status`, or the body if that is a short text.
  private static func message(in body: [UInt8]) -> String? {
    var reader = ProtobufReader(body[...])
    var message: String?
    do throws(ProtobufReader.Malformed) {
      while let (field, value) = try reader.next() {
        if field == 2, case .data(let text) = value {
          message = String(validating: text, as: UTF8.self)
        }
      }
    } catch {
      message = String(validating: body, as: UTF8.self)
    }
    return message.flatMap(shown)
  }

  /// Text of a stranger, on one line and not too long; `nil` if it is empty.
  private static func shown(_ text: String) -> String? {
    let scalars = text.unicodeScalars.prefix(200).map { scalar -> Unicode.Scalar in
      scalar.properties.generalCategory == .control || scalar.properties.isWhitespace
        ? " " : scalar
    }
    var shown = String.UnicodeScalarView()
    shown.append(contentsOf: scalars)
    let words = String(shown).split(separator: " ").joined(separator: " ")
    return words.isEmpty ? nil : words
  }
}
