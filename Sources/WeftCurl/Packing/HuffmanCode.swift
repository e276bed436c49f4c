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
