import CWeftCurl
import WeftHTTP

/// Translates a request for the C shim.
struct CurlSetup {
  /// The whole start, because copying its request would dominate the cost.
  private let start: CurlStart
  private let connections: ConnectionRule

  init(_ start: CurlStart, _ connections: ConnectionRule) {
    self.start = start
    self.connections = connections
  }

  /// - Returns: libcurl's code.
  func apply(
    to transfer: OpaquePointer, callbacks: CurlCallbacks, context: UnsafeMutableRawPointer
  ) -> Int32 {
    var texts = CTexts()
    let url = texts.add { start.request.url.write(to: &$0) }
    let method = texts.add(start.request.method.name)
    let proxy =
      switch start.request.proxy {
      case .none: texts.add("")
      case .environment: CTexts.Place?.none
      case .url(let url): texts.add(url)
      }
    let authorities = start.request.tls.authorities.map { texts.add($0) }
    let certificate = start.request.tls.certificate.map { texts.add($0) }
    let key = start.request.tls.key.map { texts.add($0) }
    let codings = start.request.wantsCompression ? texts.add(Unpacker.accepted) : nil
    let headers = addHeaders(to: &texts)
    return texts.withPointers(to: headers) { lines, pointer in
      var setup = weft_curl_setup()
      setup.url = pointer(url)
      setup.method = pointer(method)
      setup.proxy = pointer(proxy)
      setup.ca_file = pointer(authorities)
      setup.certificate_file = pointer(certificate)
      setup.key_file = pointer(key)
      setup.headers = lines
      setup.body_size = size
      setup.accept_encoding = pointer(codings)
      setup.needs_fresh_connection = connections.needsFreshConnection ? 1 : 0
      setup.callbacks = UnsafePointer(callbacks.table)
      setup.context = context
      return weft_curl_configure(transfer, &setup)
    }
  }

  /// Adds the headers in libcurl's syntax: "Name;" for an empty value, "Name:" to suppress a header that libcurl
  /// would add for a body.
  private func addHeaders(to texts: inout CTexts) -> [CTexts.Place] {
    var lines = start.request.headers.map { header in
      let value = ASCII.trimmed(header.value)
      return texts.add { text in
        text.write(header.name)
        text.write(value.isEmpty ? ";" : ": ")
        text.write(value)
      }
    }
    guard size >= 0 else { return lines }
    lines.append(texts.add("Expect:"))
    if !start.request.headers.contains(where: { ASCII.isSame($0.name, "content-type") }) {
      lines.append(texts.add("Content-Type:"))
    }
    return lines
  }

  private var size: Int64 {
    if let body = start.body { return Int64(body.size) }
    return start.request.method.declaresEmptyBody ? 0 : -1
  }
}

/// C strings for the duration of one call.
private struct CTexts {
  /// The offset of a text.
  typealias Place = Int

  private var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(512) }

  mutating func add(_ text: String) -> Place { add { $0.write(text) } }

  mutating func add(_ write: (inout CTexts) -> Void) -> Place {
    let place = bytes.count
    write(&self)
    bytes.append(0)
    return place
  }

  /// - Parameter places: The texts of a list that ends with a null pointer.
  func withPointers<Answer>(
    to places: [Place],
    _ body: (
      UnsafePointer<UnsafePointer<CChar>?>, _ pointer: (Place?) -> UnsafePointer<CChar>?
    ) -> Answer
  ) -> Answer {
    bytes.withUnsafeBytes { bytes in
      let texts = bytes.assumingMemoryBound(to: CChar.self).baseAddress!
      let pointer = { (place: Place?) in place.map { texts + $0 } }
      var list = places.map { pointer($0) }
      list.append(nil)
      return list.withUnsafeBufferPointer { body($0.baseAddress!, pointer) }
    }
  }
}

extension CTexts: TextOutputStream {
  mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

extension ExchangeFigures {
  init(_ report: weft_curl_report) {
    self.init()
    let address = withUnsafeBytes(of: report.address) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    remoteAddress = address.isEmpty ? nil : address
    remotePort = report.port == 0 ? nil : Int(report.port)
    protocolVersion = Self.protocolName(report.http_version)
    bodyBytesReceived = Int(report.body_received)
    headerBytesReceived = report.headers_received
    bodyBytesSent = Int(report.body_sent)
    timings = ExchangeTimings(report)
  }

  private static func protocolName(_ version: Int) -> String? {
    switch version {
    case 10: "HTTP/1.0"
    case 11: "HTTP/1.1"
    case 20: "HTTP/2"
    case 30: "HTTP/3"
    default: nil
    }
  }
}

extension ExchangeTimings {
  init(_ report: weft_curl_report) {
    self.init()
    let moment = { (microseconds: Int64) -> Duration? in
      microseconds > 0 ? .microseconds(microseconds) : nil
    }
    nameResolved = moment(report.name_resolved)
    connected = moment(report.connected)
    secured = moment(report.secured)
    firstByte = moment(report.first_byte)
    total = .microseconds(report.total)
  }
}

/// The condition under which a request may reuse a connection.
struct ConnectionRule: Hashable {
  /// Whether sending it twice has the effect of sending it once.
  let isRepeatable: Bool
  /// Whether no other exchange with the same server is in progress that could share a connection.
  let isAlone: Bool
  /// Whether libcurl announces that it is about to send a request, so that a second sending can be prevented.
  let reportsSending: Bool

  /// Whether only a new connection is safe.
  ///
  /// When several requests share a connection, the server may give it up for some of them, which were then not
  /// processed (RFC 9113 §6.8). libcurl does not distinguish that from a broken connection, so a non-repeatable
  /// request would fail in doubt. As the first request on a connection, it counts as processed.
  ///
  /// If libcurl cannot be kept from resending a request when a used connection breaks, no used connection may be
  /// taken.
  var needsFreshConnection: Bool { !isRepeatable && (!isAlone || !reportsSending) }
}
