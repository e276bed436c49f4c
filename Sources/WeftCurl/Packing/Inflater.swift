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
      guard length == ~check & 0xFFFF else { throw .malformed("the length of a block") }
      phase = .stored(left: length)
    case 1: phase = Inflater.fixedCodes
    case 2:
      guard let codes = try Inflater.dynamicCodes(&bits) else { return false }
      phase = codes
    default: throw .malformed("the kind of a block")
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
    guard literals <= 29, distances <= 29 else { throw .malformed("the number of its codes") }
    var lengths = [UInt8](repeating: 0, count: 19)
    for place in order.prefix(number + 4) {
      guard let length = bits.take(3) else { return nil }
      lengths[place] = UInt8(length)
    }
    guard let code = HuffmanCode(lengths) else { throw .malformed("the lengths of its codes") }
    guard let all = try codeLengths(literals + 257 + distances + 1, by: code, &bits) else {
      return nil
    }
    // Without a code for it, the block could not end.
    guard all[256] > 0, let first = HuffmanCode(all[..<(literals + 257)]),
      let second = HuffmanCode(all[(literals + 257)...])
    else { throw .malformed("the lengths of its codes") }
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
      case .invalid: throw .malformed("the lengths of its codes")
      }
      guard symbol >= 16 else {
        lengths.append(UInt8(symbol))
        continue
      }
      let (number, least) = symbol == 16 ? (2, 3) : symbol == 17 ? (3, 3) : (7, 11)
      guard let more = bits.take(number) else { return nil }
      guard symbol != 16 || !lengths.isEmpty, lengths.count + least + more <= count else {
        throw .malformed("the lengths of its codes")
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
      case .invalid: throw .malformed("a code that it does not have")
      }
      if symbol < 256 {
        buffer[end] = UInt8(symbol)
        end += 1
        continue
      }
      if symbol == 256 { return .ended }
      guard symbol - 257 < Inflater.copyLengths.count else {
        throw .malformed("a code that it does not have")
      }
      guard let copy = try readCopy(Inflater.copyLengths[symbol - 257], distances, &bits) else {
        bits.goBack(to: before)
        return .needsInput
      }
      guard copy.distance <= end else { throw .malformed("a copy of what comes before its start") }
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
        throw .malformed("a code that it does not have")
      }
      let (base, number) = Inflater.copyDistances[symbol]
      return bits.take(number).map { (kind.base + more, base + $0) }
    case .incomplete: return nil
    case .invalid: throw .malformed("a code that it does not have")
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
