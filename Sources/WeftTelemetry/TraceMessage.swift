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

/// Writes messages of Protocol Buffers (proto3), field by field. Fields with the default value are omitted by the caller.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  private enum Wire: UInt64 {
    case varint = 0
    case fixed64 = 1
    case delimited = 2
    case fixed32 = 5
  }

  mutating func number(_ field: UInt64, _ number: UInt64) {
    tag(field, .varint)
    varint(number)
  }

  mutating func fixed64(_ field: UInt64, _ number: UInt64) {
    tag(field, .fixed64)
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func fixed32(_ field: UInt64, _ number: UInt32) {
    tag(field, .fixed32)
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func data(_ field: UInt64, _ data: some Collection<UInt8>) {
    tag(field, .delimited)
    varint(UInt64(data.count))
    bytes.append(contentsOf: data)
  }

  mutating func text(_ field: UInt64, _ text: String) { data(field, text.utf8) }

  mutating func message(_ field: UInt64, _ write: (inout ProtobufWriter) -> Void) {
    var inner = ProtobufWriter()
    write(&inner)
    data(field, inner.bytes)
  }

  /// Adds fields that are encoded already.
  mutating func append(_ fields: [UInt8]) { bytes += fields }

  private mutating func tag(_ field: UInt64, _ wire: Wire) { varint(field << 3 | wire.rawValue) }

  private mutating func varint(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}

/// Reads the fields of a message that may have been written by anything.
struct ProtobufReader {
  enum Value {
    case number(UInt64)
    case data(ArraySlice<UInt8>)
  }

  struct Malformed: Error {}

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// Returns the next field; `nil` after the last.
  mutating func next() throws(Malformed) -> (field: UInt64, value: Value)? {
    if rest.isEmpty { return nil }
    let tag = try varint()
    guard tag >> 3 > 0 else { throw Malformed() }
    switch tag & 7 {
    case 0: return (tag >> 3, .number(try varint()))
    case 1: return (tag >> 3, .data(try take(8)))
    case 2: return (tag >> 3, .data(try take(try varint())))
    case 5: return (tag >> 3, .data(try take(4)))
    default: throw Malformed()
    }
  }

  private mutating func take(_ count: UInt64) throws(Malformed) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw Malformed() }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  private mutating func varint() throws(Malformed) -> UInt64 {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = rest.popFirst() else { throw Malformed() }
      number |= UInt64(byte & 0x7F) << shift
      if byte & 0x80 == 0 { return number }
    }
    throw Malformed()
  }
}
