/// The base64 encodings (RFC 4648 §4 and §5) of a secret at any position in the encoded data.
///
/// The bytes before the secret determine how its bytes are grouped in threes, so there are three forms. Each
/// contains only the digits that the secret's bytes alone determine: the digit at either end that shares its
/// six bits with a neighbour reveals at most four bits of the secret.
enum Base64Forms {
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let safeInURLs = standard.dropLast(2) + Array("-_".utf8)

  /// 64 digits, so that a part contains at most one line break: tools break lines after 64 or 76 digits (RFC
  /// 7468 §2, RFC 2045 §6.8), always between groups of four.
  private static let partBytes = 48

  static func all(of bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    var forms: [[UInt8]] = []
    for part in bytes.parts(of: partBytes, overlapping: 2) {
      for before in 0..<3 {
        let digits = digits(of: part, after: before)
        forms.append(digits.map { standard[$0] })
        if digits.contains(where: { $0 > 61 }) { forms.append(digits.map { safeInURLs[$0] }) }
        forms += broken(digits.map { standard[$0] }, firstInGroup: before == 0 ? 0 : before + 1)
      }
    }
    return forms
  }

  /// The digits that `bytes` alone determine, after `before` bytes of a group of three.
  private static func digits(of bytes: ArraySlice<UInt8>, after before: Int) -> [Int] {
    var digits: [Int] = []
    // The bits of the first byte that share a digit with the byte before it: none, 4, 2.
    var bits = 0
    var (count, skipped) = (0, [0, 4, 2][before])
    for byte in bytes {
      bits = (bits << 8 | Int(byte)) & 0xFFFF
      count += 8
      if skipped > 0 {
        count -= skipped
        skipped = 0
      }
      while count >= 6 {
        count -= 6
        digits.append(bits >> count & 0x3F)
      }
    }
    return digits
  }

  /// The digits with a line break between two groups of four.
  private static func broken(_ digits: [UInt8], firstInGroup first: Int) -> [[UInt8]] {
    stride(from: first == 0 ? 4 : 4 - first, to: digits.count, by: 4).flatMap { place in
      ["\n", "\r\n"].map { digits[..<place] + Array($0.utf8) + digits[place...] }
    }
  }
}
