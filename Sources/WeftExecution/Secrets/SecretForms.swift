/// The forms in which a secret may appear in a text: unchanged, line by line, and in the encodings that
/// programs apply by themselves.
///
/// A long value is searched for in overlapping parts: together they cover the whole of it, each is also found
/// by itself, and at most one part has to be held while output streams. Forms shorter than
/// ``Secret/fewestBytes`` are omitted.
enum SecretForms {
  /// The longest part of a value that is searched for as one.
  static let partBytes = 256
  /// The minimum length for hexadecimal forms: the digits of fewer bytes occur by chance.
  static let fewestBytesInHex = 8

  /// Every form of the value; there may be duplicates.
  static func all(of value: [UInt8]) -> [[UInt8]] {
    units(of: value).flatMap(forms).filter { $0.count >= Secret.fewestBytes }
  }

  /// The value, unencoded.
  static func literalForms(_ value: [UInt8]) -> [[UInt8]] {
    value[...].parts(of: partBytes, overlapping: 2, atCharacters: true).map(Array.init)
  }

  /// The value, and each of its lines without the white space around it, also with its escapes replaced. Lines
  /// such as `}` are too short.
  private static func units(of value: [UInt8]) -> [ArraySlice<UInt8>] {
    let values = [value] + UnescapedForms.all(of: value)
    var known: Set<ArraySlice<UInt8>> = []
    return values.flatMap(wholeAndLines).filter {
      $0.count >= Secret.fewestBytes && known.insert($0).inserted
    }
  }

  private static func wholeAndLines(_ value: [UInt8]) -> [ArraySlice<UInt8>] {
    let lines = value.split(separator: UInt8(ascii: "\n")).map(\.withoutOuterSpace)
    return [value[...], value[...].withoutOuterSpace] + (lines.count > 1 ? lines : [])
  }

  private static func forms(of unit: ArraySlice<UInt8>) -> [[UInt8]] {
    var forms: [[UInt8]] = []
    for part in unit.parts(of: partBytes, overlapping: 2, atCharacters: true) {
      forms.append(Array(part))
      // Names of hosts and codings are reported in lower case.
      let lowercased = part.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }
      if !part.elementsEqual(lowercased) { forms.append(lowercased) }
      forms += PercentForms.all(of: part)
      forms += JSONForms.all(of: part)
      forms += ShellForms.all(of: part)
      forms += HTMLForms.all(of: part)
      if unit.count >= fewestBytesInHex { forms += HexForms.all(of: part) }
    }
    return forms + Base64Forms.all(of: unit)
  }
}

extension ArraySlice<UInt8> {
  /// The slice without the ASCII white space at both ends.
  var withoutOuterSpace: ArraySlice<UInt8> {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let first = firstIndex(where: { !isSpace($0) }),
      let last = lastIndex(where: { !isSpace($0) })
    else { return [] }
    return self[first...last]
  }

  /// Parts of about the same length, each overlapping the beginning of the next.
  ///
  /// - Parameter atCharacters: Whether parts of a UTF-8 text begin and end between characters; they may then be
  ///   longer by three bytes at each end.
  func parts(
    of longest: Int, overlapping overlap: Int, atCharacters: Bool = false
  ) -> [ArraySlice<UInt8>] {
    let count = Swift.max(1, (self.count - overlap + longest - 1) / longest)
    let length = (self.count - overlap + count - 1) / count
    return (0..<count).map { number in
      var start = startIndex + number * length
      var end = Swift.min(start + length + overlap, endIndex)
      if atCharacters {
        start = boundary(before: start)
        end = boundary(after: end)
      }
      return self[start..<end]
    }
  }

  private func boundary(before index: Int) -> Int {
    var result = index
    while result > startIndex, index - result < 3, isContinuation(result) { result -= 1 }
    return result
  }

  private func boundary(after index: Int) -> Int {
    var result = index
    while result < endIndex, result - index < 3, isContinuation(result) { result += 1 }
    return result
  }

  /// Whether the byte continues a character (RFC 3629).
  private func isContinuation(_ index: Int) -> Bool {
    index < endIndex && self[index] & 0xC0 == 0x80
  }
}

/// Two hexadecimal digits for each byte, as `xxd -p` and `printf %x` write them.
enum HexForms {
  static let lowercase = Array("0123456789abcdef".utf8)
  static let uppercase = Array("0123456789ABCDEF".utf8)

  static func all(of bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    [lowercase, uppercase].map { digits in
      bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
  }
}

/// Percent-encodings (RFC 3986 §2.1) of a value. Programs differ in the characters that they leave unencoded,
/// in the case of the digits, and in how they write a space.
enum PercentForms {
  static func all(of bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    var forms: [[UInt8]] = []
    let present = Set(bytes)
    var known: Set<Set<UInt8>> = []
    // Sets that only differ in characters that are not in the value have equal results.
    for kept in setsOfKept where known.insert(kept.intersection(present)).inserted {
      for digits in [HexForms.uppercase, HexForms.lowercase] {
        forms.append(encoded(bytes, keeping: kept, digits))
        guard bytes.contains(space) else { continue }
        forms.append(encoded(bytes, keeping: kept, digits, spaceAsPlus: true))
      }
    }
    return forms
  }

  private static let space = UInt8(ascii: " ")

  /// Characters that are left unencoded; the last set is empty: even letters and digits are encoded.
  private static let setsOfKept: [Set<UInt8>] = {
    let alphanumeric = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    let marks = [
      "-._~",  // RFC 3986 §2.3: curl, jq's @uri, PHP's rawurlencode
      "-._~/",  // Python's quote
      "-._",  // PHP's urlencode
      "-._*",  // forms: WHATWG URL §5.2, Java's URLEncoder
      "-._~!'()*",  // encodeURIComponent
      "-._~!'()*;,/?:@&=+$#",  // encodeURI
      "-._~!'()*$%&+,",  // a user and password in a URL: WHATWG URL §1.3
      "-._~!'()*$%&+,/:;=@[]|\\^",  // a path, as browsers write it
      "-._~!()*$%&+,/:;=@?[]|\\^`{}",  // a query, as browsers write it
      "",
    ]
    return marks.map { alphanumeric.union($0.utf8) } + [[]]
  }()

  private static func encoded(
    _ bytes: ArraySlice<UInt8>, keeping kept: Set<UInt8>, _ digits: [UInt8],
    spaceAsPlus: Bool = false
  ) -> [UInt8] {
    var form: [UInt8] = []
    for byte in bytes {
      if kept.contains(byte) {
        form.append(byte)
      } else if spaceAsPlus && byte == space {
        form.append(UInt8(ascii: "+"))
      } else {
        form += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return form
  }
}

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
