import CWeftCurl

/// A request in the words of the shim.
struct CurlSetup {
  private let request: WireRequest
  private let bodySize: Int?
  private let connections: ConnectionRule

  init(_ request: WireRequest, bodySize: Int?, _ connections: ConnectionRule) {
    self.request = request
    self.bodySize = bodySize
    self.connections = connections
  }

  /// - Returns: libcurl's code.
  func apply(
    to transfer: OpaquePointer, callbacks: CurlCallbacks, context: UnsafeMutableRawPointer
  ) -> Int32 {
    CStringList.with(texts) { pointers in
      CStringList.with(headerLines) { headers in
        var setup = weft_curl_setup()
        setup.url = pointers[0]
        setup.method = pointers[1]
        setup.proxy = pointers[2]
        setup.ca_file = pointers[3]
        setup.certificate_file = pointers[4]
        setup.key_file = pointers[5]
        setup.headers = headers.baseAddress
        setup.body_size = size
        setup.wants_compression = request.wantsCompression ? 1 : 0
        setup.needs_fresh_connection = connections.needsFreshConnection ? 1 : 0
        setup.callbacks = UnsafePointer(callbacks.table)
        setup.context = context
        return weft_curl_configure(transfer, &setup)
      }
    }
  }

  private var texts: [String?] {
    let proxy: String? =
      switch request.proxy {
      case .none: ""
      case .environment: nil
      case .url(let url): url
      }
    return [
      request.url.description, request.method.name, proxy, request.tls.authorities,
      request.tls.certificate, request.tls.key,
    ]
  }

  /// libcurl's spellings: "Name;" for an empty value, "Name:" for a header of its own that is not to be sent.
  private var headerLines: [String?] {
    var lines = request.headers.map { header in
      let value = ASCII.trimmed(header.value)
      return value.isEmpty ? header.name + ";" : header.name + ": " + value
    }
    lines.append("Expect:")
    if !request.headers.contains(where: { ASCII.isSame($0.name, "content-type") }) {
      lines.append("Content-Type:")
    }
    return lines + [nil]
  }

  private var size: Int64 {
    if let bodySize { return Int64(bodySize) }
    return request.method.tellsEmptyBody ? 0 : -1
  }
}

/// Strings for C, for the time of one call.
private enum CStringList {
  /// `nil` is a null pointer.
  static func with<Answer>(
    _ texts: [String?], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>?>) -> Answer
  ) -> Answer {
    var bytes: [CChar] = []
    let places: [Int?] = texts.map { text in
      guard let text else { return nil }
      defer { bytes += text.utf8CString }
      return bytes.count
    }
    return bytes.withUnsafeBufferPointer { buffer in
      let pointers = places.map { place in place.map { buffer.baseAddress! + $0 } }
      return pointers.withUnsafeBufferPointer(body)
    }
  }
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
