/// Decompresses a DEFLATE stream (RFC 1951) that arrives in pieces. Needs memory for one window and one piece of
/// output.
struct Inflater {
  enum Progress {
    /// All bytes have been read, and the stream continues.
    case needsInput
    /// The ``output`` must be taken first.
    case isFull
    /// The last block has ended.
    case ended
  }

  private enum Phase {
    case blockHeader
    case stored(left: Int)
    case codes(literals: HuffmanCode, distances: HuffmanCode)
    case ended
  }

  /// The longest distance of a copy.
  private static let windowBytes = 32 << 10
  private static let longestCopy = 258
  private static let bufferBytes = 3 * windowBytes

  private var phase = Phase.blockHeader
  private var isLastBlock = false
  /// Output that was taken, as far back as copies reach, followed by output that was not.
  private var buffer = [UInt8](repeating: 0, count: Inflater.bufferBytes)
  private var start = 0
  private var end = 0

  /// The decompressed bytes that have not been taken.
  var output: ArraySlice<UInt8> { buffer[start..<end] }

  /// Discards the ``output`` after its use.
  mutating func takeOutput() {
    start = end
    guard end > 2 * Inflater.windowBytes else { return }
    buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress!.copyMemory(
        from: bytes.baseAddress! + (end - Inflater.windowBytes), byteCount: Inflater.windowBytes)
    }
    start = Inflater.windowBytes
    end = Inflater.windowBytes
  }

  /// Decompresses until the bytes run out, the output is full, or the stream ends.
  mutating func run(_ bits: inout BitReader) throws(PackingError) -> Progress {
    while true {
      switch phase {
      case .blockHeader:
        let before = bits
        guard try beginBlock(&bits) else {
          bits = before
          return .needsInput
        }
      case .stored(let left):
        let done = copyStored(atMost: left, &bits)
        phase = left == done ? following : .stored(left: left - done)
        if done < left { return end == buffer.count ? .isFull : .needsInput }
      case .codes(let literals, let distances):
        switch try readCodes(literals, distances, &bits) {
        case .ended: phase = following
        case let progress: return progress
        }
      case .ended: return .ended
      }
    }
  }

  private var following: Phase { isLastBlock ? .ended : .blockHeader }

  /// - Returns: Whether the whole header was available.
  private mutating func beginBlock(_ bits: inout BitReader) throws(PackingError) -> Bool {
    guard let last = bits.take(1), let kind = bits.take(2) else { return false }
    isLastBlock = last == 1
    switch kind {
    case 0:
      bits.alignToByte()
      guard let length = bits.take(16), let check = bits.take(16) else { return false }
      guard length == ~check & 0xFFFF else { throw .malformed("invalid block length") }
      phase = .stored(left: length)
    case 1: phase = Inflater.fixedCodes
    case 2:
      guard let codes = try Inflater.dynamicCodes(&bits) else { return false }
      phase = codes
    default: throw .malformed("unknown kind of block")
    }
    return true
  }

  private mutating func copyStored(atMost left: Int, _ bits: inout BitReader) -> Int {
    let before = end
    bits.takeBytes(atMost: min(left, buffer.count - end)) { bytes in
      buffer.replaceSubrange(end..<end + bytes.count, with: bytes)
      end += bytes.count
    }
    return end - before
  }

  // MARK: Codes

  private static let fixedCodes: Phase = {
    let lengths = (0..<288).map { symbol -> UInt8 in
      switch symbol {
      case ..<144: 8
      case ..<256: 9
      case ..<280: 7
      default: 8
      }
    }
    // 30 and 31 have codes but no meaning (RFC 1951 §3.2.6).
    return .codes(
      literals: HuffmanCode(lengths)!,
      distances: HuffmanCode([UInt8](repeating: 5, count: 32))!)
  }()

  /// The order of the lengths of the code length codes (RFC 1951 §3.2.7).
  private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  /// - Returns: `nil` if they are not available completely.
  private static func dynamicCodes(_ bits: inout BitReader) throws(PackingError) -> Phase? {
    guard let literals = bits.take(5), let distances = bits.take(5), let number = bits.take(4)
    else { return nil }
    guard literals <= 29, distances <= 29 else { throw .malformed("invalid number of codes") }
    var lengths = [UInt8](repeating: 0, count: 19)
    for place in order.prefix(number + 4) {
      guard let length = bits.take(3) else { return nil }
      lengths[place] = UInt8(length)
    }
    guard let code = HuffmanCode(lengths) else { throw .malformed("invalid code lengths") }
    guard let all = try codeLengths(literals + 257 + distances + 1, by: code, &bits) else {
      return nil
    }
    // Without a code for it, the block could not end.
    guard all[256] > 0, let first = HuffmanCode(all[..<(literals + 257)]),
      let second = HuffmanCode(all[(literals + 257)...])
    else { throw .malformed("invalid code lengths") }
    return .codes(literals: first, distances: second)
  }

  private static func codeLengths(
    _ count: Int, by code: HuffmanCode, _ bits: inout BitReader
  ) throws(PackingError) -> [UInt8]? {
    var lengths: [UInt8] = []
    while lengths.count < count {
      bits.refill()
      let symbol: Int
      switch code.read(&bits) {
      case .symbol(let read): symbol = read
      case .incomplete: return nil
      case .invalid: throw .malformed("invalid code lengths")
      }
      guard symbol >= 16 else {
        lengths.append(UInt8(symbol))
        continue
      }
      let (number, least) = symbol == 16 ? (2, 3) : symbol == 17 ? (3, 3) : (7, 11)
      guard let more = bits.take(number) else { return nil }
      guard symbol != 16 || !lengths.isEmpty, lengths.count + least + more <= count else {
        throw .malformed("invalid code lengths")
      }
      let repeated = symbol == 16 ? lengths.last! : 0
      lengths.append(contentsOf: repeatElement(repeated, count: least + more))
    }
    return lengths
  }

  /// Indexed by the symbol minus 257: the base length, and the number of extra bits (RFC 1951 §3.2.5).
  private static let copyLengths: [(base: Int, bits: Int)] = [
    (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 1), (13, 1), (15, 1),
    (17, 1), (19, 2), (23, 2), (27, 2), (31, 2), (35, 3), (43, 3), (51, 3), (59, 3), (67, 4),
    (83, 4), (99, 4), (115, 4), (131, 5), (163, 5), (195, 5), (227, 5), (258, 0),
  ]

  private static let copyDistances: [(base: Int, bits: Int)] = (0..<30).map { symbol in
    guard symbol >= 4 else { return (symbol + 1, 0) }
    let bits = symbol / 2 - 1
    return ((2 + symbol & 1) << bits + 1, bits)
  }

  /// Decodes until the block ends, the bytes run out, or the output has no room for a copy. A symbol and its extra
  /// bits take at most 48 bits.
  private mutating func readCodes(
    _ literals: HuffmanCode, _ distances: HuffmanCode, _ bits: inout BitReader
  ) throws(PackingError) -> Progress {
    while end + Inflater.longestCopy <= buffer.count {
      bits.refill()
      let before = bits.mark
      let symbol: Int
      switch literals.read(&bits) {
      case .symbol(let read): symbol = read
      case .incomplete: return .needsInput
      case .invalid: throw .malformed("unknown code")
      }
      if symbol < 256 {
        buffer[end] = UInt8(symbol)
        end += 1
        continue
      }
      if symbol == 256 { return .ended }
      guard symbol - 257 < Inflater.copyLengths.count else {
        throw .malformed("unknown code")
      }
      guard let copy = try readCopy(Inflater.copyLengths[symbol - 257], distances, &bits) else {
        bits.goBack(to: before)
        return .needsInput
      }
      guard copy.distance <= end else { throw .malformed("reference before the start") }
      append(copy.length, from: copy.distance)
    }
    return .isFull
  }

  /// - Returns: `nil` if the bits run out.
  @inline(__always)
  private func readCopy(
    _ kind: (base: Int, bits: Int), _ distances: HuffmanCode, _ bits: inout BitReader
  ) throws(PackingError) -> (length: Int, distance: Int)? {
    guard let more = bits.take(kind.bits) else { return nil }
    switch distances.read(&bits) {
    case .symbol(let symbol):
      guard symbol < Inflater.copyDistances.count else {
        throw .malformed("unknown code")
      }
      let (base, number) = Inflater.copyDistances[symbol]
      return bits.take(number).map { (kind.base + more, base + $0) }
    case .incomplete: return nil
    case .invalid: throw .malformed("unknown code")
    }
  }

  /// Copies byte by byte, because source and destination may overlap.
  @inline(__always)
  private mutating func append(_ length: Int, from distance: Int) {
    buffer.withUnsafeMutableBufferPointer { buffer in
      for place in end..<end + length { buffer[place] = buffer[place - distance] }
    }
    end += length
  }
}

/// A canonical prefix code (RFC 1951 §3.2.2): a table for short codes, bit by bit for longer ones.
struct HuffmanCode {
  /// The length of the longest code in the table.
  private static let tableBits = 10
  private static let mostBits = 15

  /// Indexed by the next bits: 16 times the symbol plus the length of its code; 0 if the code is longer.
  private var table = [UInt16](repeating: 0, count: 1 << HuffmanCode.tableBits)
  /// The number of codes of each length.
  private var counts = [Int](repeating: 0, count: HuffmanCode.mostBits + 1)
  /// The symbols in the order of their codes.
  private var symbols: [UInt16] = []

  /// - Parameter lengths: The code length of each symbol; 0 if it has no code.
  /// - Returns: `nil` if no prefix code has these lengths, or if it is incomplete: only a single code of one bit may
  ///   be that.
  init?(_ lengths: some Collection<UInt8>) {
    for length in lengths where length > 0 { counts[Int(length)] += 1 }
    var left = 1
    for length in 1...HuffmanCode.mostBits {
      left = left << 1 - counts[length]
      if left < 0 { return nil }
    }
    let used = counts.reduce(0, +)
    guard left == 0 || used == 0 || used == 1 && counts[1] == 1 else { return nil }
    var codes = [Int](repeating: 0, count: HuffmanCode.mostBits + 1)
    var places = codes
    for length in 1..<HuffmanCode.mostBits {
      codes[length + 1] = (codes[length] + counts[length]) << 1
      places[length + 1] = places[length] + counts[length]
    }
    symbols = [UInt16](repeating: 0, count: used)
    for (symbol, length) in lengths.enumerated() where length > 0 {
      symbols[places[Int(length)]] = UInt16(symbol)
      places[Int(length)] += 1
      if length <= HuffmanCode.tableBits { fill(codes[Int(length)], Int(length), symbol) }
      codes[Int(length)] += 1
    }
  }

  private mutating func fill(_ code: Int, _ length: Int, _ symbol: Int) {
    // Codes start with their most significant bit, but the stream with the least significant one.
    var reversed = 0
    for bit in 0..<length where code >> bit & 1 == 1 { reversed |= 1 << (length - 1 - bit) }
    let entry = UInt16(symbol << 4 | length)
    for place in stride(from: reversed, to: table.count, by: 1 << length) { table[place] = entry }
  }

  /// The result of decoding the next bits.
  enum Reading {
    case symbol(Int)
    /// The bits run out within a code.
    case incomplete
    case invalid
  }

  /// Decodes the next code from bits that have been loaded.
  @inline(__always)
  func read(_ bits: inout BitReader) -> Reading {
    let entry = Int(table[Int(bits.bits & UInt64(table.count - 1))])
    if entry == 0 { return readLong(&bits) }
    guard entry & 15 <= bits.count else { return .incomplete }
    bits.drop(entry & 15)
    return .symbol(entry >> 4)
  }

  private func readLong(_ bits: inout BitReader) -> Reading {
    var (code, first, index) = (0, 0, 0)
    for length in 1...HuffmanCode.mostBits {
      guard length <= bits.count else { return .incomplete }
      code |= Int(bits.bits >> UInt64(length - 1) & 1)
      let count = counts[length]
      if code - first < count {
        bits.drop(length)
        return .symbol(Int(symbols[index + code - first]))
      }
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    return .invalid
  }
}

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
