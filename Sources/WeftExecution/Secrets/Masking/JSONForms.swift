/// The encodings of a value inside a JSON string (RFC 8259 §7). Writers differ in what they escape
/// unnecessarily, and in how.
enum JSONForms {
  /// The escapes of a writer, besides quotes, backslashes and controls.
  private struct Style {
    var slash = false
    var nonASCII = false
    /// Characters escaped as `\u00XX`, so that the text is safe in HTML.
    var further: [UInt8] = []
    /// Whether backspace and form feed are `\b` and `\f`.
    var shortControls = true
    var digits = HexForms.lowercase
  }

  static func all(of bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    // Bytes that are not text never appear unencoded in JSON.
    guard let text = String(validating: bytes, as: UTF8.self) else { return [] }
    let forms = styles(for: Set(bytes)).map { escaped(text, $0) }
    // JSON within JSON: all writers escape what is then plain ASCII alike.
    return forms + forms.map { escaped(String(decoding: $0, as: UTF8.self), Style()) }
  }

  /// The styles that encode this value differently.
  private static func styles(for present: Set<UInt8>) -> [Style] {
    // None; Go and writers for HTML; Gson; jq.
    let further = ["<>&", "<>&='", "\u{7F}"].map { Array($0.utf8) }
      .filter { !present.isDisjoint(with: $0) }
    let hasNonASCII = present.contains { $0 >= 0x80 }
    let hasUnits = hasNonASCII || !further.isEmpty || present.contains { $0 < 0x20 }
    let slashes = present.contains(UInt8(ascii: "/")) ? [false, true] : [false]
    let shortControls = present.isDisjoint(with: [0x08, 0x0C]) ? [true] : [true, false]
    var styles: [Style] = []
    for further in [[]] + further {
      for nonASCII in hasNonASCII ? [false, true] : [false] {
        for digits in hasUnits ? [HexForms.lowercase, HexForms.uppercase] : [HexForms.lowercase] {
          for slash in slashes {
            for shortControls in shortControls {
              styles.append(
                Style(
                  slash: slash, nonASCII: nonASCII, further: further,
                  shortControls: shortControls, digits: digits))
            }
          }
        }
      }
    }
    return styles
  }

  private static func escaped(_ text: String, _ style: Style) -> [UInt8] {
    var form: [UInt8] = []
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        append(UInt8(scalar.value), to: &form, style)
      } else if style.nonASCII {
        for unit in UTF16.encode(scalar)! { appendUnit(unit, to: &form, style.digits) }
      } else {
        form += UTF8.encode(scalar)!
      }
    }
    return form
  }

  private static func append(_ byte: UInt8, to form: inout [UInt8], _ style: Style) {
    let backslash = UInt8(ascii: "\\")
    switch byte {
    case UInt8(ascii: "\""), backslash: form += [backslash, byte]
    case UInt8(ascii: "/") where style.slash: form += [backslash, byte]
    case 0x09: form += [backslash, UInt8(ascii: "t")]
    case 0x0A: form += [backslash, UInt8(ascii: "n")]
    case 0x0D: form += [backslash, UInt8(ascii: "r")]
    case 0x08 where style.shortControls: form += [backslash, UInt8(ascii: "b")]
    case 0x0C where style.shortControls: form += [backslash, UInt8(ascii: "f")]
    case ..<0x20: appendUnit(UInt16(byte), to: &form, style.digits)
    case _ where style.further.contains(byte): appendUnit(UInt16(byte), to: &form, style.digits)
    default: form.append(byte)
    }
  }

  private static func appendUnit(_ unit: UInt16, to form: inout [UInt8], _ digits: [UInt8]) {
    form += [UInt8(ascii: "\\"), UInt8(ascii: "u")]
    for shift in [12, 8, 4, 0] { form.append(digits[Int(unit >> shift & 15)]) }
  }
}
