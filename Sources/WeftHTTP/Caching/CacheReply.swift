import Synchronization

/// Handles the server's response to a request that the cache could not answer alone.
final class CacheReply: Sendable {
  /// The outcome of the request.
  enum Verdict {
    case passOn(HTTPExchange)
    case fail(HTTPFailure)
    /// Uses the stored response instead.
    case standIn(StoredResponse, StaleReason, ExchangeFigures)
    /// The stored response is valid; it is stored again with newer headers.
    case stillRight(StoredResponse, ExchangeFigures)
    /// The server validated a different response than the stored one.
    case askAgain(StoredResponse)
  }

  /// The change to the store.
  enum Keeping {
    case keep(StoredResponse)
    case forget(StoredResponse)
    case nothing
  }

  /// The place of the received body.
  private enum Body: Sendable {
    case inExchange
    case copied(CopyingWriter)
    /// Only the writer has it.
    case elsewhere
  }

  /// The request as sent.
  let request: WireRequest
  private let inquiry: CacheInquiry
  private let stored: StoredResponse?
  private let mayStandIn: Bool
  private let asked: Int64
  private let limits: CacheLimits
  private let body = Mutex(Body.inExchange)

  init(to inquiry: CacheInquiry, having stored: StoredResponse?, at now: Int64, limits: CacheLimits)
  {
    self.inquiry = inquiry
    self.stored = stored
    self.limits = limits
    asked = now
    let own = inquiry.request
    mayStandIn =
      stored.map {
        own.caching.staleOnError.allows($0, for: HTTPHeaders(own.headers), at: now)
      } ?? false
    // A response to HEAD has no body that a condition could save.
    request = own.adding(own.method == .head ? [] : stored?.conditions ?? [])
  }

  /// Returns how to receive the body. The caller's plan is not consulted about responses that it will not get.
  func plan(for head: HTTPResponseHead) -> BodyPlan {
    if isAboutStored(head) || mayStandIn && head.isServerTrouble {
      return .keepStart(limit: Reception.startBytes)
    }
    let plan = inquiry.plan(head)
    guard case .write(let writer, let limit) = plan else { return plan }
    guard head.mayBeStored, head.contentLength ?? 0 <= limits.bodyBytes else {
      body.withLock { $0 = .elsewhere }
      return plan
    }
    let copying = CopyingWriter(writer, limit: limits.bodyBytes)
    body.withLock { $0 = .copied(copying) }
    return .write(copying, limit: limit)
  }

  private func isAboutStored(_ head: HTTPResponseHead) -> Bool {
    head.status == 304 && request.headers.count > inquiry.request.headers.count
  }

  func verdict(on outcome: Result<HTTPExchange, HTTPFailure>, at now: Int64) -> Verdict {
    switch outcome {
    case .failure(let failure):
      guard let stored, mayStandIn, failure.isServerTrouble else { return .fail(failure) }
      return .standIn(stored, .failure(failure), failure.figures)
    case .success(let exchange):
      guard let stored else { return .passOn(exchange) }
      if isAboutStored(exchange.head) {
        guard stored.agrees(with: exchange.head) else { return .askAgain(stored) }
        return .stillRight(freshened(stored, by: exchange.head, at: now), exchange.figures)
      }
      guard mayStandIn, exchange.head.isServerTrouble else { return .passOn(exchange) }
      return .standIn(stored, .status(exchange.head.status), exchange.figures)
    }
  }

  /// Returns the change to the store after a response was passed on.
  func keeping(_ exchange: HTTPExchange, secret: CacheSecret, at now: Int64) -> Keeping {
    if inquiry.request.method == .head { return keepingAfterHead(exchange.head, at: now) }
    if let body = received(exchange), exchange.head.mayBeStored {
      let vary = VaryingField.names(in: exchange.head)
      return .keep(
        StoredResponse(
          key: inquiry.key, vary: vary, selection: secret.selection(inquiry.request, by: vary),
          head: exchange.head, body: body, requestTime: asked, responseTime: now))
    }
    // It no longer matches the server, and must not replace a failed response later.
    guard let stored, !exchange.head.isServerTrouble else { return .nothing }
    return .forget(stored)
  }

  /// Returns the change to the store after HEAD (RFC 9111 §4.3.5).
  private func keepingAfterHead(_ head: HTTPResponseHead, at now: Int64) -> Keeping {
    guard let stored, head.status == 200 else { return .nothing }
    let lengths = [stored.head.contentLength, head.contentLength].compactMap(\.self)
    guard stored.head.status == 200, stored.agrees(with: head), Set(lengths).count <= 1 else {
      return .forget(stored)
    }
    return .keep(freshened(stored, by: head, at: now))
  }

  private func freshened(
    _ stored: StoredResponse, by head: HTTPResponseHead, at now: Int64
  ) -> StoredResponse {
    stored.freshened(by: head, requestTime: asked, responseTime: now)
  }

  /// The whole body; `nil` if it was not received or exceeds the limit.
  private func received(_ exchange: HTTPExchange) -> [UInt8]? {
    switch body.withLock({ $0 }) {
    case .inExchange:
      exchange.isBodyCut || exchange.body.count > limits.bodyBytes ? nil : exchange.body
    case .copied(let writer): writer.copy
    case .elsewhere: nil
    }
  }
}

/// Passes a body on, and keeps a copy while it fits the limit.
final class CopyingWriter: BodyWriter {
  private let writer: any BodyWriter
  private let limit: Int
  private let bytes = Mutex<[UInt8]?>([])

  init(_ writer: any BodyWriter, limit: Int) {
    self.writer = writer
    self.limit = limit
  }

  /// The bytes written so far; `nil` if they exceeded the limit.
  var copy: [UInt8]? { bytes.withLock { $0 } }

  func write(_ piece: UnsafeRawBufferPointer) throws(HTTPFailure.Kind) {
    bytes.withLock { bytes in
      guard let count = bytes?.count else { return }
      if count + piece.count > limit { bytes = nil } else { bytes?.append(contentsOf: piece) }
    }
    try writer.write(piece)
  }

  func end(_ end: BodyEnd) throws(HTTPFailure.Kind) { try writer.end(end) }
}
