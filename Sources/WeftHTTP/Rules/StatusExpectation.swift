/// The statuses that count as expected.
public struct StatusExpectation: Sendable, Hashable {
  /// One status or a hundred of them.
  public enum Element: Sendable, Hashable {
    case code(Int)
    /// `2` covers 200 to 299.
    case hundreds(Int)
  }

  /// The alternatives.
  public let elements: [Element]

  /// Creates an expectation of any of the elements.
  public init(_ elements: [Element]) { self.elements = elements }

  /// The statuses 2xx.
  public static let success = StatusExpectation([.hundreds(2)])

  /// Whether the status is expected.
  public func accepts(_ status: Int) -> Bool {
    elements.contains { element in
      switch element {
      case .code(let code): code == status
      case .hundreds(let hundreds): status / 100 == hundreds
      }
    }
  }
}

extension StatusExpectation.Element {
  /// Parses "404" or "2xx"; `nil` for other text.
  public init?(_ text: String) {
    if let code = ASCII.number(text), (100...999).contains(code), text.utf8.count == 3 {
      self = .code(code)
    } else if text.utf8.count == 3, text.hasSuffix("xx"), let first = text.first?.wholeNumberValue,
      (1...9).contains(first)
    {
      self = .hundreds(first)
    } else {
      return nil
    }
  }
}

extension HTTPResponseHead {
  /// "http:404", the error class for `retry.on` (SPEC) of an unexpected response.
  public var errorClass: String { "http:\(status)" }

  /// Whether the same request may get another response later: 408, 425, 429, and 5xx except 501.
  public var isTransient: Bool { Self.isTransient(status) }

  /// Whether a status may be another one later.
  package static func isTransient(_ status: Int) -> Bool {
    switch status {
    case 408, 425, 429: true
    case 501: false
    default: (500...599).contains(status)
    }
  }

  /// Whether the response leaves open if the request was processed: a gateway lost contact with the server.
  public var leavesFateUnknown: Bool { status == 502 || status == 504 }
}

/// One target of a `Link` header (RFC 8288).
public struct WebLink: Sendable, Hashable {
  /// The target as written; usually relative to the response's URL.
  public let target: String
  /// The relations, such as "next" or "last", in lower case; only the first `rel` counts.
  public let relations: [String]
  /// All parameters, including `rel`, by lower-case name.
  public let parameters: [String: String]

  /// Returns the links in the `Link` headers, in order. Malformed links are ignored, and so are those with an
  /// `anchor`, which describe another resource.
  public static func all(in headers: HTTPHeaders) -> [WebLink] {
    headers.values(of: "link").flatMap { value in
      pieces(of: value).compactMap(WebLink.init(piece:))
    }
    .filter { $0.parameters["anchor"] == nil }
  }

  /// Splits at commas outside quotes and angle brackets.
  private static func pieces(of value: String) -> [String] {
    var pieces: [[UInt8]] = [[]]
    var (isQuoted, isEscaped, isTarget) = (false, false, false)
    for byte in value.utf8 {
      if byte == UInt8(ascii: ","), !isQuoted, !isTarget {
        pieces.append([])
        continue
      }
      pieces[pieces.count - 1].append(byte)
      switch byte {
      case UInt8(ascii: "<") where !isQuoted: isTarget = true
      case UInt8(ascii: ">") where !isQuoted: isTarget = false
      case UInt8(ascii: "\"") where !isEscaped && !isTarget: isQuoted.toggle()
      default: break
      }
      isEscaped = isQuoted && !isEscaped && byte == UInt8(ascii: "\\")
    }
    return pieces.map { ASCII.trimmed(String(decoding: $0, as: UTF8.self)) }
  }

  private init?(piece: String) {
    guard piece.hasPrefix("<"), let end = piece.firstIndex(of: ">") else { return nil }
    target = String(piece[piece.index(after: piece.startIndex)..<end])
    parameters = ParameterText.parameters(
      of: ParameterText.split(piece[piece.index(after: end)...]))
    relations = (parameters["rel"] ?? "").split(separator: " ").map { ASCII.lowercased($0) }
  }
}

extension HTTPResponse {
  /// The URL of the next page; `nil` if the response names none, or an invalid one.
  public var nextPage: HTTPURL? {
    let link = WebLink.all(in: headers).first { $0.relations.contains("next") }
    return link.flatMap { try? url.resolving($0.target) }
  }
}
