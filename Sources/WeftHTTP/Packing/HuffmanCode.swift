/// A canonical prefix code (RFC 1951 §3.2.2): short codes by a table, longer ones bit by bit.
struct HuffmanCode {
  /// The longest code that the table knows.
  private static let tableBits = 10
  private static let mostBits = 15

  /// By the next bits: the symbol times 16 plus the length of its code; 0 where the table does not know it.
  private var table = [UInt16](repeating: 0, count: 1 << HuffmanCode.tableBits)
  /// How many codes there are of each length.
  private var counts = [Int](repeating: 0, count: HuffmanCode.mostBits + 1)
  /// In the order of their codes.
  private var symbols: [UInt16] = []

  /// - Parameter lengths: Of the code of each symbol; 0: it has none.
  /// - Returns: `nil` if no code has these lengths, or one that leaves bits without a meaning: only a single
  ///   code of one bit may do that.
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
    // Codes come with their most significant bit first, and bits with their least.
    var reversed = 0
    for bit in 0..<length where code >> bit & 1 == 1 { reversed |= 1 << (length - 1 - bit) }
    let entry = UInt16(symbol << 4 | length)
    for place in stride(from: reversed, to: table.count, by: 1 << length) { table[place] = entry }
  }

  /// What the next bits are.
  enum Reading {
    case symbol(Int)
    /// The bits run out before the end of a code.
    case incomplete
    case invalid
  }

  /// Takes the next code, of bits that have been loaded.
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
