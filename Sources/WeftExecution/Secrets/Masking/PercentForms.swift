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
