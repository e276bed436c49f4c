import WeftFutures
import WeftPlatform

/// A request that a cache may answer, and the plan for the response.
struct CacheInquiry: Sendable {
  let request: WireRequest
  let key: CacheKey
  let plan: @Sendable (HTTPResponseHead) -> BodyPlan
}

/// Delivers a stored response as if it came from a server.
final class CacheDelivery: Sendable {
  /// Runs writers, which may block; no thread starts before the first one.
  private let threads = BlockingThreads(name: "weft-http-cache")

  func deliver(
    _ head: HTTPResponseHead, _ body: [UInt8], to inquiry: CacheInquiry, as status: CacheStatus,
    figures: ExchangeFigures
  ) -> Future<HTTPExchange, HTTPFailure> {
    let exchange = { @Sendable (body: [UInt8], isCut: Bool) in
      HTTPExchange(
        head: head, body: body, isBodyCut: isCut, figures: figures, cacheStatus: status)
    }
    switch inquiry.plan(head) {
    case .refuse(let kind): return Future(failure: HTTPFailure(kind, figures: figures))
    case .keepStart(let limit):
      return Future(value: exchange(Array(body.prefix(limit)), body.count > limit))
    case .keep(let limit):
      if let limit, body.count > limit {
        return Future(failure: HTTPFailure(.limit(.body, limit), figures: figures))
      }
      return Future(value: exchange(body, false))
    case .write(let writer, let limit):
      return write(body, to: writer, limit: limit).map { exchange([], false) }
        .mapError { HTTPFailure($0.kind, figures: figures) }
    }
  }

  private func write(
    _ body: [UInt8], to writer: any BodyWriter, limit: Int?
  ) -> Future<Void, HTTPFailure> {
    let promise = Promise<Void, HTTPFailure>()
    do {
      try threads.submit {
        do throws(HTTPFailure.Kind) {
          try Self.write(body, to: writer, limit: limit)
          promise.succeed()
        } catch {
          promise.fail(HTTPFailure(error))
        }
      }
    } catch {
      promise.fail(HTTPFailure(.other(error.message)))
    }
    return promise.future
  }

  private static func write(
    _ body: [UInt8], to writer: any BodyWriter, limit: Int?
  ) throws(HTTPFailure.Kind) {
    if let limit, body.count > limit {
      try? writer.end(.broken(.limit(.body, limit)))
      throw .limit(.body, limit)
    }
    let written = body.withUnsafeBytes { bytes in
      Result { () throws(HTTPFailure.Kind) in try writer.write(bytes) }
    }
    if case .failure(let kind) = written {
      try? writer.end(.broken(kind))
      throw kind
    }
    try writer.end(.complete)
  }
}
