import WeftFutures
import WeftPlatform

/// A request that a cache may answer, and the plan for the response.
struct CacheInquiry: Sendable {
  let request: WireRequest
  let key: ResponseKey
  let plan: @Sendable (HTTPResponseHead) -> BodyPlan
}

extension ThreadPool {
  /// The threads that read and write stored responses, for all caches of this process.
  static let httpCache = ThreadPool(name: "weft-http-cache")
}

/// Delivers a stored response as if it came from a server.
enum CacheDelivery {
  static func deliver(
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

  private static func write(
    _ body: [UInt8], to writer: any BodyWriter, limit: Int?
  ) -> Future<Void, HTTPFailure> {
    let promise = Promise<Void, HTTPFailure>()
    do {
      try ThreadPool.httpCache.submit {
        do throws(HTTPFailure.Kind) {
          try writeNow(body, to: writer, limit: limit)
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

  private static func writeNow(
    _ body: [UInt8], to writer: any BodyWriter, limit: Int?
  ) throws(HTTPFailure.Kind) {
    if let limit, body.count > limit {
      try? writer.end(.broken(.limit(.body, limit)))
      throw .limit(.body, limit)
    }
    do {
      try body.withRawBytes { (bytes) throws(HTTPFailure.Kind) in try writer.write(bytes) }
    } catch {
      try? writer.end(.broken(error))
      throw error
    }
    try writer.end(.complete)
  }
}
