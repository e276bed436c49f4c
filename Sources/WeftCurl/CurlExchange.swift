import CWeftCurl
import WeftFutures
import WeftHTTP
import WeftPlatform

/// One exchange while libcurl processes it. For the driver's thread only.
final class CurlExchange {
  /// The way it ended.
  enum Ending {
    /// libcurl reported its end.
    case returned(Int)
    case failed(HTTPFailure.Kind)
  }

  /// The reason why this side ended it; libcurl only reports that it was aborted.
  private enum Verdict {
    case failed(HTTPFailure.Kind)
    /// All wanted bytes of the body have arrived.
    case cut
  }

  let id: Int
  let transfer: OpaquePointer
  /// The origin, if several requests may share a connection to it.
  var sharedOrigin: HTTPURL.Origin? {
    start.request.url.scheme == .https ? start.request.url.origin : nil
  }
  private let start: CurlStart
  private let clock: LoopClock
  private let mailbox: Mailbox
  private let threads: ThreadPool
  private(set) var watch: DeadlineWatch
  private var source: OutgoingBody?
  private var reader: HeadReader
  private var head: HTTPResponseHead?
  private var sink = IncomingBody.nothing
  /// Decompresses the body, if it is compressed.
  private var unpacking: Unpacking?
  private var verdict: Verdict?
  private var refusedAddress: String?
  private var isAbandoned = false
  private var sendings = 0
  private var budget = TurnBudget()

  init(
    _ start: CurlStart, transfer: OpaquePointer, clock: LoopClock, mailbox: Mailbox,
    threads: ThreadPool
  ) {
    id = start.id
    self.start = start
    self.transfer = transfer
    self.clock = clock
    self.mailbox = mailbox
    self.threads = threads
    watch = DeadlineWatch(start.request.deadlines, now: clock.now)
    reader = HeadReader(limit: start.request.maxHeaderBytes)
    source = beginning()
  }

  private func beginning() -> OutgoingBody? {
    start.body.map { body in
      OutgoingBody(body, threads: threads) { [mailbox, id] in _ = mailbox.post(.resume(id)) }
    }
  }

  /// - Parameter isAlone: Whether no other exchange with the same server is in progress.
  /// - Returns: libcurl's code.
  func configure(_ callbacks: CurlCallbacks, isAlone: Bool) -> Int32 {
    let way = ConnectionRule(
      isRepeatable: start.request.isRepeatable, isAlone: isAlone,
      reportsSending: weft_curl_tells_sending() != 0)
    return CurlSetup(start, way).apply(
      to: transfer, callbacks: callbacks, context: Unmanaged.passUnretained(self).toOpaque())
  }

  func release() { watch.release(at: clock.now) }

  /// Returns the deadline failure, if one has expired. Older versions of libcurl do not announce a connection, but
  /// can be queried.
  func overdue() -> HTTPFailure.Kind? {
    if report().sent > 0 { watch.connected() }
    return watch.expired(at: clock.now)
  }

  /// Marks an exchange whose outcome is settled while libcurl still resolves the name; nothing may happen afterwards.
  func abandon() { isAbandoned = true }

  // MARK: Callbacks of libcurl

  func admits(_ address: [UInt8]) -> Bool {
    if isAbandoned { return false }
    if start.transport.network == .any || PublicAddress.isPublic(address) { return true }
    refusedAddress = PublicAddress.text(address)
    return false
  }

  /// Aborts a second sending of a non-repeatable request: libcurl resends when a used connection turns out to be
  /// broken, and the server may have processed the first one.
  func willSend() -> weft_curl_answer {
    if isAbandoned { return WEFT_CURL_ABORT }
    sendings += 1
    watch.connected()
    watch.sign(at: clock.now)
    guard sendings > 1, !start.request.isRepeatable else { return WEFT_CURL_GO_ON }
    return abort(.failed(CurlOutcome.closedOnRequest))
  }

  func headerCame(_ line: UnsafeRawBufferPointer) -> weft_curl_answer {
    watch.sign(at: clock.now)
    switch reader.take(line) {
    case .more: return WEFT_CURL_GO_ON
    case .fault(let kind): return abort(.failed(kind))
    case .complete(let head): return begin(head)
    }
  }

  private func begin(_ head: HTTPResponseHead) -> weft_curl_answer {
    self.head = head
    let plan = start.plan(head)
    if case .refuse(let kind) = plan { return abort(.failed(kind)) }
    sink = IncomingBody(plan, threads: threads) { [mailbox, id] notice in
      switch notice {
      case .hasRoom: _ = mailbox.post(.resume(id))
      case .failed(let kind): _ = mailbox.post(.fail(id, kind))
      }
    }
    // The response to HEAD declares the length that the body would have.
    if start.request.method != .head, let kind = sink.refusal(of: head) {
      return abort(.failed(kind))
    }
    guard start.request.wantsCompression else { return WEFT_CURL_GO_ON }
    do throws(PackingError) {
      unpacking = try Unpacking(of: head, to: start.request.method)
      return WEFT_CURL_GO_ON
    } catch {
      return abort(.failed(error.kind))
    }
  }

  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> weft_curl_answer {
    watch.sign(at: clock.now)
    guard budget.take(in: clock.turn) else {
      watch.hold(at: clock.now)
      _ = mailbox.post(.resume(id))
      return WEFT_CURL_PAUSE
    }
    guard unpacking != nil else { return answer(to: sink.take(bytes)) }
    do throws(PackingError) {
      return answer(to: try unpacking!.take(bytes, into: &sink))
    } catch {
      return abort(.failed(error.kind))
    }
  }

  private func answer(to taking: IncomingBody.Acceptance) -> weft_curl_answer {
    switch taking {
    case .taken: return WEFT_CURL_GO_ON
    case .full:
      watch.hold(at: clock.now)
      return WEFT_CURL_PAUSE
    case .enough: return abort(.cut)
    case .tooMuch(let kind): return abort(.failed(kind))
    }
  }

  /// - Returns: A byte count, -1 to wait, -2 to abort.
  func readBody(_ room: UnsafeMutableRawBufferPointer) -> Int {
    watch.sign(at: clock.now)
    switch source?.take(atMost: room.count) ?? .bytes([]) {
    case .bytes(let bytes):
      room.copyBytes(from: bytes)
      return bytes.count
    case .later:
      watch.hold(at: clock.now)
      return -1
    case .failed(let kind):
      _ = abort(.failed(kind))
      return -2
    }
  }

  /// Rewinds the body. A server that closes a connection says which of its requests it will not process, and libcurl
  /// resends those.
  func rewindBody() -> Bool {
    guard start.request.isRepeatable else { return false }
    source = beginning()
    return true
  }

  private func abort(_ verdict: Verdict) -> weft_curl_answer {
    self.verdict = self.verdict ?? verdict
    return WEFT_CURL_ABORT
  }

  // MARK: The end

  /// Must be called before the transfer leaves the loop.
  func report() -> weft_curl_report {
    var report = weft_curl_report()
    weft_curl_read_report(transfer, &report)
    return report
  }

  /// Settles the promise once a writer of the body has received the end, too.
  func conclude(_ ending: Ending, _ report: weft_curl_report) {
    let figures = ExchangeFigures(report)
    let isInDoubt = !start.request.isRepeatable && report.request_sent > 0
    let promise = start.promise
    switch outcome(of: ending, report) {
    case .success(let head):
      let isCut = if case .cut? = verdict { true } else { false }
      if let body = sink.takeStored() {
        promise.succeed(
          HTTPExchange(head: head, body: body, isBodyCut: isCut, figures: figures))
        return
      }
      sink.finish(.complete) { failure in
        if let failure {
          promise.fail(
            HTTPFailure(
              failure, isInDoubt: isInDoubt, figures: figures,
              response: IncompleteResponse(head: head, received: figures.bodyBytesReceived)))
        } else {
          promise.succeed(HTTPExchange(head: head, isBodyCut: isCut, figures: figures))
        }
      }
    case .failure(let kind):
      let stored = sink.takeStored() ?? []
      let response = head.map {
        IncompleteResponse(head: $0, body: stored, received: figures.bodyBytesReceived)
      }
      sink.finish(.broken(kind)) { failure in
        promise.fail(
          HTTPFailure(
            failure ?? kind, isInDoubt: isInDoubt, figures: figures, response: response))
      }
    }
  }

  private func outcome(
    of ending: Ending, _ report: weft_curl_report
  ) -> Result<HTTPResponseHead, HTTPFailure.Kind> {
    if case .failed(let kind) = ending { return .failure(kind) }
    if case .failed(let kind)? = verdict { return .failure(kind) }
    guard case .returned(let code) = ending, code != 0, verdict == nil else {
      if verdict == nil, let unpacking, !unpacking.isComplete {
        return .failure(.partial(received: Int(report.body_received), expected: nil))
      }
      // The connection was closed before the end of the head.
      return head.map { .success($0) } ?? .failure(.empty)
    }
    if let refusedAddress, report.request_sent == 0 { return .failure(.address(refusedAddress)) }
    let words = String(cString: weft_curl_message(transfer))
    return .failure(
      CurlOutcome(
        code: code,
        message: words.isEmpty ? String(cString: weft_curl_code_text(Int32(code))) : words,
        systemError: report.system_error, verifyResult: report.verify_result,
        bodyBytesReceived: Int(report.body_received), head: head,
        connectLimit: start.request.deadlines.connect, mayUseProxy: start.request.proxy != .none,
        url: start.request.url
      ).kind)
  }
}

/// The functions that libcurl calls; each finds its exchange through the context. On the driver's thread only.
final class CurlCallbacks {
  let table: UnsafeMutablePointer<weft_curl_callbacks>

  init() {
    table = .allocate(capacity: 1)
    table.initialize(
      to: weft_curl_callbacks(
        will_send: { context, _, _ in exchange(context).willSend() },
        header: { context, bytes, count in
          exchange(context).headerCame(UnsafeRawBufferPointer(start: bytes, count: count))
        },
        body: { context, bytes, count in
          exchange(context).receiveBody(UnsafeRawBufferPointer(start: bytes, count: count))
        },
        read: { context, bytes, room in
          exchange(context).readBody(UnsafeMutableRawBufferPointer(start: bytes, count: room))
        },
        rewind: { context in exchange(context).rewindBody() ? 1 : 0 },
        admit: { context, address, count in
          exchange(context).admits(Array(UnsafeBufferPointer(start: address, count: count))) ? 1 : 0
        }))
  }

  deinit {
    table.deinitialize(count: 1)
    table.deallocate()
  }
}

/// Safe because the driver keeps an exchange as long as its transfer is in the loop.
private func exchange(_ context: UnsafeMutableRawPointer?) -> CurlExchange {
  Unmanaged<CurlExchange>.fromOpaque(context!).takeUnretainedValue()
}

/// The deadlines of an exchange.
struct DeadlineWatch {
  private let deadlines: HTTPDeadlines
  private let began: Duration
  private var lastActivity: Duration
  /// The time since which the server waits for this side rather than the reverse.
  private var heldSince: Duration?
  private var isConnected = false

  init(_ deadlines: HTTPDeadlines, now: Duration) {
    self.deadlines = deadlines
    began = now
    lastActivity = now
  }

  /// Notes that the request can be sent.
  mutating func connected() { isConnected = true }

  /// Notes that bytes were sent or received.
  mutating func sign(at now: Duration) {
    lastActivity = now
    heldSince = nil
  }

  mutating func hold(at now: Duration) { heldSince = heldSince ?? now }

  mutating func release(at now: Duration) {
    if heldSince != nil { sign(at: now) }
  }

  /// The time of the next check; `nil` if there is none.
  var nextCheck: Duration? {
    let idle = heldSince == nil ? deadlines.idle.map { lastActivity + $0 } : nil
    let connect = isConnected ? nil : deadlines.connect.map { began + $0 }
    return Self.earlier(deadlines.total.map { began + $0 }, Self.earlier(idle, connect))
  }

  private static func earlier(_ one: Duration?, _ other: Duration?) -> Duration? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  func expired(at now: Duration) -> HTTPFailure.Kind? {
    if let total = deadlines.total, now >= began + total { return .timeout(.total, after: total) }
    if !isConnected, let connect = deadlines.connect, now >= began + connect {
      return .timeout(.connect, after: connect)
    }
    if heldSince == nil, let idle = deadlines.idle, now >= lastActivity + idle {
      return .timeout(.idle, after: idle)
    }
    return nil
  }
}
