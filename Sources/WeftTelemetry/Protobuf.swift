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
