import CWeftCurl
import Synchronization
import WeftEncoding
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
  private let abandonsLookups: Bool?
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
  ///   - abandonsLookups: For tests: overrides whether libcurl can abandon a name lookup.
  package init(
    network: NetworkPolicy = .any, threads: ThreadPool, abandonsLookups: Bool? = nil
  ) {
    self.network = network
    self.threads = threads
    self.abandonsLookups = abandonsLookups
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
    let (mailbox, threads, abandonsLookups) = (mailbox, threads, abandonsLookups)
    do {
      try threads.submit {
        CurlDriver.run(mailbox, threads: threads, abandonsLookups: abandonsLookups)
      }
    } catch {
      CurlDriver.refuse(mailbox.close(), .other(error.message))
    }
  }
}

/// An exchange that is about to begin. A class because it is large and is passed between threads.
final class CurlStart: Sendable {
  typealias Outcome = Result<HTTPExchange, HTTPFailure>

  let id: Int
  let request: WireRequest
  let body: OpenedBody?
  let plan: @Sendable (HTTPResponseHead) -> BodyPlan
  let promise: Promise<HTTPExchange, HTTPFailure>
  /// Keeps the transport alive while a response may still be awaited.
  let transport: CurlTransport

  init(
    id: Int, request: WireRequest, body: OpenedBody?,
    plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan,
    promise: Promise<HTTPExchange, HTTPFailure>, transport: CurlTransport
  ) {
    self.id = id
    self.request = request
    self.body = body
    self.plan = plan
    self.promise = promise
    self.transport = transport
  }

  func fail(_ kind: HTTPFailure.Kind) { promise.fail(HTTPFailure(kind)) }
}

/// libcurl, which is loaded with the first request and stays loaded.
enum CurlLibrary {
  /// Takes some milliseconds the first time.
  static func open() throws(HTTPFailure.Kind) {
    var failed: Int32 = 0
    let why = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      buffer[0] = 0
      failed = weft_curl_open(buffer.baseAddress, buffer.count)
      return String(cString: buffer.baseAddress!)
    }
    if failed != 0 { throw .unavailable(why) }
  }

  /// The version, such as "7.88.1"; `nil` if the library is not loaded.
  static var version: String? {
    let text = String(cString: weft_curl_version_text())
    return text.isEmpty ? nil : text
  }
}

extension TLSFiles {
  /// Checks the files before libcurl opens them, because a FIFO without a writer would block its only thread. Blocks
  /// as long as the file system does.
  func checkContents() throws(HTTPFailure.Kind) {
    for path in [authorities, certificate, key].compactMap(\.self) {
      let file = try regularFile(path)
      guard path == key ?? certificate else { continue }
      let start = (try? file.piece(at: 0, atMost: Self.searchedBytes)) ?? []
      if Self.isEncrypted(start) { throw .tls(.encryptedKey, why: path) }
    }
  }

  /// Large enough for a key and the certificates before it, which take a few kilobytes.
  private static let searchedBytes = 1 << 20

  private func regularFile(_ path: String) throws(HTTPFailure.Kind) -> Descriptor {
    do throws(SystemError) {
      return try Descriptor.opened(regularFile: path).0
    } catch {
      let fault = error == .invalid ? " is not a regular file" : ": \(error)"
      throw .tls(.ownFiles, why: "\"\(path)\"\(fault)")
    }
  }

  /// Whether the first key is encrypted: PKCS #8 (RFC 7468 §11) or the older format (RFC 1421 §4.6.1.1).
  static func isEncrypted(_ pem: [UInt8]) -> Bool {
    let lines = pem.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard
      let first = lines.firstIndex(where: {
        $0.starts(with: "-----BEGIN ".utf8) && $0.contains("PRIVATE KEY-----")
      })
    else { return false }
    if lines[first].contains("BEGIN ENCRYPTED ") { return true }
    let next = lines.index(after: first)
    return next < lines.endIndex && lines[next].starts(with: "Proc-Type:".utf8)
      && lines[next].contains("ENCRYPTED")
  }
}

extension ArraySlice<UInt8> {
  fileprivate func contains(_ text: StaticString) -> Bool {
    String(decoding: self, as: UTF8.self).contains("\(text)")
  }
}
