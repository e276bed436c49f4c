/// The identity of a span in its trace, as the variables `TRACEPARENT` and `TRACESTATE` pass it on (W3C Trace
/// Context, level 1).
public struct TraceContext: Sendable, Hashable {
  public var trace: TraceID
  public var span: SpanID
  /// Whether the spans of the trace are collected. Spans below one that is not collected are not sent.
  public var isSampled: Bool
  /// The `tracestate`, which belongs to the vendors of tracing systems; `nil` if there is none.
  public var state: String?

  public init(trace: TraceID, span: SpanID, isSampled: Bool = true, state: String? = nil) {
    (self.trace, self.span, self.isSampled, self.state) = (trace, span, isSampled, state)
  }

  /// - Parameters:
  ///   - parent: A `traceparent`, also of a later version. The result is `nil` if it is malformed.
  ///   - state: A `tracestate`; dropped if it is malformed.
  public init?(parent: String, state: String? = nil) {
    let bytes = Array(parent.utf8)
    guard bytes.count >= 55, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
      let version = TraceContext.number(bytes[..<2]), version != 0xFF,
      let high = TraceContext.number(bytes[3..<19]), let low = TraceContext.number(bytes[19..<35]),
      let span = TraceContext.number(bytes[36..<52]).flatMap(SpanID.init),
      let trace = TraceID(high: high, low: low), let flags = TraceContext.number(bytes[53..<55])
    else { return nil }
    let isWhole = bytes.count == 55 || version > 0 && bytes[55] == UInt8(ascii: "-")
    guard isWhole else { return nil }
    self.init(
      trace: trace, span: span, isSampled: flags & 1 == 1,
      state: state.flatMap { TraceContext.isState($0) ? $0 : nil })
  }

  /// The `traceparent`: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
  public var parent: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }

  /// The context of another span of the trace.
  public func with(_ span: SpanID) -> TraceContext {
    var context = self
    context.span = span
    return context
  }

  /// Hexadecimal digits in lower case; `nil` if there is any other character.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - 0x61 + 10)
      default: return nil
      }
    }
    return number
  }

  /// Whether the text may be passed on: at most 512 printable characters, and 32 members with a key and a value.
  private static func isState(_ text: String) -> Bool {
    guard text.utf8.count <= 512, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
      return false
    }
    let members = text.split(separator: ",").filter { !$0.allSatisfy { $0 == " " } }
    return !members.isEmpty && members.count <= 32
      && members.allSatisfy { ($0.firstIndex(of: "=") ?? $0.startIndex) > $0.startIndex }
  }
}

/// The identity of a trace: 16 bytes that are not all zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
  public let high: UInt64
  public let low: UInt64

  /// - Returns: `nil` if both are 0.
  public init?(high: UInt64, low: UInt64) {
    guard high != 0 || low != 0 else { return nil }
    (self.high, self.low) = (high, low)
  }

  /// 32 hexadecimal digits in lower case.
  public var description: String { high.hexadecimal + low.hexadecimal }
}

/// The identity of a span in its trace: 8 bytes that are not all zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  public let number: UInt64

  /// - Returns: `nil` for 0.
  public init?(_ number: UInt64) {
    guard number != 0 else { return nil }
    self.number = number
  }

  /// 16 hexadecimal digits in lower case.
  public var description: String { number.hexadecimal }
}

extension UInt64 {
  fileprivate var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
