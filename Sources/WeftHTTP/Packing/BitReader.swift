/// Bits of a stream that arrives in pieces, the least significant bit of each byte first (RFC 1951 §3.1.1).
///
/// A reader whose bytes run out is set back to a copy made before, and goes on when there are more.
struct BitReader {
  private var input: [UInt8] = []
  private var position = 0
  /// The next bits; above ``count`` there are zeros.
  private(set) var bits: UInt64 = 0
  private(set) var count = 0

  /// Adds bytes at the end.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if position > 0 {
      input.removeFirst(position)
      position = 0
    }
    input.append(contentsOf: bytes)
  }

  /// Whether there are no bytes left, a byte that has been begun not counted.
  var isEmpty: Bool { position == input.count && count < 8 }

  /// Whether there are at least `wanted` bits, of which there may be 56 at most.
  @inline(__always)
  mutating func holds(_ wanted: Int) -> Bool {
    if count < wanted { refill() }
    return count >= wanted
  }

  /// Loads as many bits as there is room for: 57 at least, unless the bytes run out.
  @inline(__always)
  mutating func refill() {
    while count <= 56, position < input.count {
      bits |= UInt64(input[position]) << UInt64(count)
      position += 1
      count += 8
    }
  }

  /// Removes bits that are there.
  @inline(__always)
  mutating func drop(_ number: Int) {
    bits >>= UInt64(number)
    count -= number
  }

  /// The next `number` bits; `nil` if there are fewer.
  @inline(__always)
  mutating func take(_ number: Int) -> Int? {
    guard holds(number) else { return nil }
    defer { drop(number) }
    return Int(bits & (1 << UInt64(number) - 1))
  }

  /// Where it is, for ``goBack(to:)``.
  @inline(__always)
  var mark: (bits: UInt64, count: Int) { (bits, count) }

  /// Goes back to where it was, if nothing has been loaded since.
  mutating func goBack(to mark: (bits: UInt64, count: Int)) { (bits, count) = mark }

  /// Removes what is left of a byte that has been begun.
  mutating func alignToByte() { drop(count & 7) }

  /// Removes bytes, as many as there are up to `limit`. Only at the boundary of a byte.
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
