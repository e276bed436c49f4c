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
  public var isTransient: Bool {
    switch status {
    case 408, 425, 429: true
    case 501: false
    default: (500...599).contains(status)
    }
  }

  /// Whether the response leaves open if the request was processed: a gateway lost contact with the server.
  public var leavesFateUnknown: Bool { status == 502 || status == 504 }
}
