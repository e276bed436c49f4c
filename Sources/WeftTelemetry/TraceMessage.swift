import WeftEvents
import WeftPlatform

/// The binary form of spans: `ExportTraceServiceRequest` of OTLP 1.
///
/// Binary, because every receiver of OTLP over HTTP must read it, while JSON is optional for them, and because it is a
/// third as long.
struct TraceMessage: Sendable {
  private let context: TraceContext
  /// The wall clock at the start of the run.
  private let start: WallTime
  /// The encoded fields that each request repeats.
  private let resource: [UInt8]

  /// The version of the conventions that ``AttributeKey`` follows.
  private static let schema = "https://opentelemetry.io/schemas/1.41.0"
  /// The limit for each text; attributes of spans are no place for more.
  private static let textLimit = 4096

  init(of context: TraceContext, startedAt start: WallTime, resource: [SpanAttribute]) {
    (self.context, self.start) = (context, start)
    var writer = ProtobufWriter()
    writer.message(1) { TraceMessage.write(resource, 1, to: &$0) }
    self.resource = writer.bytes
  }

  /// The body of a request with these spans, each as ``encoded(_:)`` returns it.
  func request(_ spans: some Sequence<[UInt8]>) -> [UInt8] {
    var request = ProtobufWriter()
    request.message(1) { resourceSpans in
      resourceSpans.append(resource)
      resourceSpans.message(2) { scopeSpans in
        scopeSpans.message(1) { scope in
          scope.text(1, "weft")
          scope.text(2, WeftVersion.current)
        }
        for span in spans { scopeSpans.data(2, span) }
        scopeSpans.text(3, TraceMessage.schema)
      }
      resourceSpans.text(3, TraceMessage.schema)
    }
    return request.bytes
  }

  func encoded(_ span: Span) -> [UInt8] {
    var writer = ProtobufWriter()
    writer.data(1, context.trace.bytes)
    writer.data(2, span.id.bytes)
    if let state = context.state { writer.text(3, state) }
    if let parent = span.parent { writer.data(4, parent.bytes) }
    writer.text(5, TraceMessage.limited(span.name))
    writer.number(6, span.kind.rawValue)
    writer.fixed64(7, nanoseconds(at: span.start))
    writer.fixed64(8, nanoseconds(at: span.end))
    TraceMessage.write(span.attributes, 9, to: &writer)
    for link in span.links {
      writer.message(13) { message in
        message.data(1, link.trace.bytes)
        message.data(2, link.span.bytes)
        if let state = link.state { message.text(3, state) }
        message.fixed32(6, TraceMessage.flags(link, isRemote: true))
      }
    }
    if case .error(let text) = span.status {
      writer.message(15) { status in
        status.text(2, TraceMessage.limited(text))
        status.number(3, 2)
      }
    }
    writer.fixed32(16, TraceMessage.flags(context, isRemote: span.hasRemoteParent))
    return writer.bytes
  }

  /// The flags of W3C, that it is known whether the parent is remote (bit 8), and whether it is (bit 9).
  private static func flags(_ context: TraceContext, isRemote: Bool) -> UInt32 {
    (context.isSampled ? 1 : 0) | 0x100 | (isRemote ? 0x200 : 0)
  }

  private func nanoseconds(at time: Duration) -> UInt64 {
    UInt64(clamping: start.advanced(by: time).nanoseconds)
  }

  private static func write(
    _ attributes: [SpanAttribute], _ field: UInt64, to writer: inout ProtobufWriter
  ) {
    for attribute in attributes {
      writer.message(field) { pair in
        pair.text(1, attribute.key)
        pair.message(2) { write(attribute.value, to: &$0) }
      }
    }
  }

  private static func write(_ value: SpanAttribute.Value, to writer: inout ProtobufWriter) {
    switch value {
    case .text(let text): writer.text(1, limited(text))
    case .flag(let flag): writer.number(2, flag ? 1 : 0)
    case .number(let number): writer.number(3, UInt64(bitPattern: Int64(number)))
    case .texts(let texts):
      writer.message(5) { array in
        for text in texts { array.message(1) { $0.text(1, limited(text)) } }
      }
    }
  }

  private static func limited(_ text: String) -> String {
    guard text.utf8.count > textLimit else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: textLimit - 3)
    while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + "…"
  }
}

extension TraceID {
  fileprivate var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
}

extension SpanID {
  fileprivate var bytes: [UInt8] { number.bigEndianBytes }
}

extension UInt64 {
  fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}
