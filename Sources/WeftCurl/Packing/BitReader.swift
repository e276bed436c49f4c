/// A stream of bits that arrives in pieces, least significant bit of each byte first (RFC 1951 §3.1.1).
///
/// When its bytes run out, the caller restores an earlier copy of the reader, and continues when more have arrived.
struct BitReader {
  private var input: [UInt8] = []
  private var position = 0
  /// The next bits; those above ``count`` are zero.
  private(set) var bits: UInt64 = 0
  private(set) var count = 0

  /// Appends bytes.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if position > 0 {
      input.removeFirst(position)
      position = 0
    }
    input.append(contentsOf: bytes)
  }

  /// Whether no bytes are left, ignoring a partially consumed one.
  var isEmpty: Bool { position == input.count && count < 8 }

  /// Whether at least `wanted` bits are available; at most 56.
  @inline(__always)
  mutating func holds(_ wanted: Int) -> Bool {
    if count < wanted { refill() }
    return count >= wanted
  }

  /// Loads as many bits as fit: at least 57, unless the bytes run out.
  @inline(__always)
  mutating func refill() {
    while count <= 56, position < input.count {
      bits |= UInt64(input[position]) << UInt64(count)
      position += 1
      count += 8
    }
  }

  /// Removes available bits.
  @inline(__always)
  mutating func drop(_ number: Int) {
    bits >>= UInt64(number)
    count -= number
  }

  /// Returns the next `number` bits; `nil` if there are fewer.
  @inline(__always)
  mutating func take(_ number: Int) -> Int? {
    guard holds(number) else { return nil }
    defer { drop(number) }
    return Int(bits & (1 << UInt64(number) - 1))
  }

  /// The position, for ``goBack(to:)``.
  @inline(__always)
  var mark: (bits: UInt64, count: Int) { (bits, count) }

  /// Restores a position, if nothing has been loaded since.
  mutating func goBack(to mark: (bits: UInt64, count: Int)) { (bits, count) = mark }

  /// Skips to the next byte boundary.
  mutating func alignToByte() { drop(count & 7) }

  /// Passes on as many bytes as available, up to `limit`. Only at a byte boundary.
  mutating func takeBytes(atMost limit: Int, _ use: (ArraySlice<UInt8>) -> Void) {
    var left = limit
    while left > 0, count >= 8 {
      use([UInt8(truncatingIfNeeded: bits)])
      drop(8)
      left -= 1
    }
    let end = min(input.count, position + left)
    if position < end { use(input[position..<end]) }
    position = end
  }
}
