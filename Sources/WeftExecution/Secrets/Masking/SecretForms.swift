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
  static func asIs(_ value: [UInt8]) -> [[UInt8]] {
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
