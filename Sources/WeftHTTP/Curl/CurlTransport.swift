import Synchronization
public import WeftFutures
package import WeftPlatform

/// The transport that drives libcurl: one thread for any number of requests, which keeps connections for
/// those that come later. HTTP/1.1, and HTTP/2 where a server offers it over TLS, whose certificates are
/// always verified. No cookies, no netrc, no proxy that the request does not name.
///
/// Nothing is opened or started before the first request. Closed when it is released; what is going on keeps
/// it.
public final class CurlTransport: Transport {
  private let mailbox = Mailbox()
  private let threads: BlockingThreads
  let network: NetworkPolicy
  private let leavesLookups: Bool?
  private let nextID = Mutex(0)

  /// Which addresses are connected to, whatever name they were found under, and by whichever redirect.
  public enum NetworkPolicy: Sendable, Hashable {
    case any
    /// None of this machine or of a private network. A proxy must have a public address too.
    case publicOnly
  }

  /// Makes a transport that has its threads for itself.
  public convenience init(network: NetworkPolicy = .any) {
    self.init(network: network, threads: BlockingThreads(name: "weft-http"))
  }

  /// - Parameters:
  ///   - threads: For the loop, and for bodies that come from files or go to writers.
  ///   - leavesLookups: For tests: whether libcurl can leave a lookup alone, where it should not be asked.
  package init(
    network: NetworkPolicy = .any, threads: BlockingThreads, leavesLookups: Bool? = nil
  ) {
    self.network = network
    self.threads = threads
    self.leavesLookups = leavesLookups
  }

  deinit { close() }

  /// Cancels what is going on and closes all connections. Later requests fail as cancelled.
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

  /// Files are opened where the thread may be blocked.
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
