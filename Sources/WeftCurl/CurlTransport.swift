import Synchronization
public import WeftFutures
public import WeftHTTP
package import WeftPlatform

/// The transport that drives libcurl, with one thread for any number of requests. It keeps connections for later
/// requests, and uses HTTP/1.1, or HTTP/2 if the server offers it over TLS. Certificates are always verified. No
/// cookies, no netrc, no proxy that the request does not name.
///
/// Nothing is opened or started before the first request. The transport closes when it is released; exchanges in
/// progress keep it alive.
public final class CurlTransport: Transport {
  private let mailbox = Mailbox()
  private let threads: ThreadPool
  let network: NetworkPolicy
  private let leavesLookups: Bool?
  private let nextID = Mutex(0)

  /// The permitted addresses, regardless of host name or redirects.
  public enum NetworkPolicy: Sendable, Hashable {
    case any
    /// No addresses of this machine or of private networks. A proxy must have a public address, too.
    case publicOnly
  }

  /// Creates a transport with threads of its own.
  public convenience init(network: NetworkPolicy = .any) {
    self.init(network: network, threads: ThreadPool(name: "weft-http"))
  }

  /// - Parameters:
  ///   - threads: Run the loop, and read or write bodies of files.
  ///   - leavesLookups: For tests: overrides whether libcurl can abandon a name lookup.
  package init(
    network: NetworkPolicy = .any, threads: ThreadPool, leavesLookups: Bool? = nil
  ) {
    self.network = network
    self.threads = threads
    self.leavesLookups = leavesLookups
  }

  deinit { close() }

  /// Cancels all exchanges and closes all connections. Later requests fail as cancelled.
  public func close() {
    if case .needsThread = mailbox.post(.close) { _ = mailbox.close() }
  }

  /// Callbacks of the future run on the thread that drives all exchanges, and must not block.
  public func exchange(
    _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
  ) -> Future<HTTPExchange, HTTPFailure> {
    let promise = Promise<HTTPExchange, HTTPFailure>()
    let id = nextID.withLock { id in
      id += 1
      return id
    }
    let mailbox = mailbox
    promise.onCancel { _ = mailbox.post(.cancel(id)) }
    let begin: @Sendable (OpenedBody?) -> Void = { [self] body in
      post(
        CurlStart(
          id: id, request: request, body: body, plan: plan, promise: promise, transport: self))
    }
    open(request, promise, then: begin)
    return promise.future
  }

  /// Opens files on a thread that may block.
  private func open(
    _ request: WireRequest, _ promise: Promise<HTTPExchange, HTTPFailure>,
    then begin: @escaping @Sendable (OpenedBody?) -> Void
  ) {
    let hasTLSFiles = request.url.scheme == .https && request.tls != TLSFiles()
    if !hasTLSFiles, request.body == nil { return begin(nil) }
    let open: @Sendable () -> Void = {
      do throws(HTTPFailure.Kind) {
        if hasTLSFiles { try request.tls.checkContents() }
        begin(try request.body.map { body throws(HTTPFailure.Kind) in try OpenedBody(body) })
      } catch {
        promise.fail(HTTPFailure(error))
      }
    }
    if !hasTLSFiles, request.body?.files.isEmpty ?? true { return open() }
    do { try threads.submit(open) } catch { promise.fail(HTTPFailure(.other(error.message))) }
  }

  private func post(_ start: CurlStart) {
    switch mailbox.post(.start(start)) {
    case .accepted: break
    case .isClosed: start.fail(.cancelled)
    case .needsThread: startThread()
    }
  }

  private func startThread() {
    let (mailbox, threads, leavesLookups) = (mailbox, threads, leavesLookups)
    do {
      try threads.submit {
        CurlDriver.run(mailbox, threads: threads, leavesLookups: leavesLookups)
      }
    } catch {
      CurlDriver.refuse(mailbox.close(), .other(error.message))
    }
  }
}
