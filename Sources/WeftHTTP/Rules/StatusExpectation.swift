/// Which answers are what was hoped for.
public struct StatusExpectation: Sendable, Hashable {
  /// One status or a hundred of them.
  public enum Element: Sendable, Hashable {
    case code(Int)
    /// `2` is all from 200 to 299.
    case hundreds(Int)
  }

  /// Any of them will do.
  public let elements: [Element]

  /// Names what will do.
  public init(_ elements: [Element]) { self.elements = elements }

  /// 2xx.
  public static let success = StatusExpectation([.hundreds(2)])

  /// Whether an answer of that status is hoped for.
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
  /// "404" and "2xx"; `nil` for all else.
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
  /// "http:404", the class of SPEC's `retry.on` for an answer that was not expected.
  public var errorClass: String { "http:\(status)" }

  /// Whether the same request may well get another answer later: 408, 425, 429 and 5xx but 501.
  public var isTransient: Bool {
    switch status {
    case 408, 425, 429: true
    case 501: false
    default: (500...599).contains(status)
    }
  }

  /// Whether whoever answered does not know what became of the request: a gateway that heard nothing more.
  public var leavesFateUnknown: Bool { status == 502 || status == 504 }
}
