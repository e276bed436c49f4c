/// The quoted forms of a value that shells and other programs write: `set -x`, `printf %q`, `declare -p`,
/// Python's `shlex.quote` and `repr`. Each without the outer quotes.
enum ShellForms {
  static func all(of bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    var forms: [[UInt8]] = []
    if bytes.contains(UInt8(ascii: "'")) {
      // bash, zsh and ksh; dash and Python.
      for quote in [#"'\''"#, #"'"'"'"#] {
        forms.append(replacing(bytes) { $0 == "'" ? quote : nil })
      }
    }
    if bytes.contains(where: backslashed.contains) {
      forms.append(replacing(bytes) { backslashed.contains($0.value8) ? "\\\($0)" : nil })
    }
    if bytes.contains(where: escapedInDouble.contains) {
      forms.append(replacing(bytes) { escapedInDouble.contains($0.value8) ? "\\\($0)" : nil })
    }
    return forms + escaped(bytes)
  }

  /// Characters that bash's `printf %q` escapes by a backslash.
  private static let backslashed = Set(#" '"\|&;()<>!{}*[]?^$`,"#.utf8)
  /// Characters to escape within double quotes (POSIX, XCU 2.2.3).
  private static let escapedInDouble = Set(#"$`"\"#.utf8)

  private static func replacing(
    _ bytes: ArraySlice<UInt8>, _ replacement: (Unicode.Scalar) -> String?
  ) -> [UInt8] {
    var form: [UInt8] = []
    for byte in bytes {
      if byte < 0x80, let text = replacement(Unicode.Scalar(byte)) {
        form += Array(text.utf8)
      } else {
        form.append(byte)
      }
    }
    return form
  }

  /// The forms between `$'` and `'`, and those of `repr`, which differ in other control characters.
  private static func escaped(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    let isQuoted = bytes.contains(UInt8(ascii: "'"))
    let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") }
    let hasHigh = bytes.contains { $0 >= 0x80 }
    guard isQuoted || !isPlain || hasHigh else { return [] }
    let hasControls = bytes.contains { ($0 < 0x20 || $0 == 0x7F) && !short.contains($0) }
    var forms: [[UInt8]] = []
    for escapesQuote in isQuoted ? [true, false] : [true] {
      for isHexadecimal in hasControls || hasHigh ? [false, true] : [false] {
        for escapesHigh in hasHigh ? [false, true] : [false] {
          forms.append(
            escaped(
              bytes, escapesQuote: escapesQuote, isHexadecimal: isHexadecimal,
              escapesHigh: escapesHigh))
        }
      }
    }
    return forms
  }

  /// Control characters that all of them escape alike.
  private static let short: Set<UInt8> = [0x09, 0x0A, 0x0D]

  private static func escaped(
    _ bytes: ArraySlice<UInt8>, escapesQuote: Bool, isHexadecimal: Bool, escapesHigh: Bool
  ) -> [UInt8] {
    var form: [UInt8] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "\\"): form += Array(#"\\"#.utf8)
      case UInt8(ascii: "'") where escapesQuote: form += Array(#"\'"#.utf8)
      case 0x09: form += Array(#"\t"#.utf8)
      case 0x0A: form += Array(#"\n"#.utf8)
      case 0x0D: form += Array(#"\r"#.utf8)
      case 0x07 where !isHexadecimal: form += Array(#"\a"#.utf8)
      case 0x08 where !isHexadecimal: form += Array(#"\b"#.utf8)
      case 0x0B where !isHexadecimal: form += Array(#"\v"#.utf8)
      case 0x0C where !isHexadecimal: form += Array(#"\f"#.utf8)
      case 0x1B where !isHexadecimal: form += Array(#"\E"#.utf8)
      case ..<0x20, 0x7F,
        0x80... where byte < 0x80 || escapesHigh:
        form += isHexadecimal ? hexadecimal(byte) : octal(byte)
      default: form.append(byte)
      }
    }
    return form
  }

  private static func octal(_ byte: UInt8) -> [UInt8] {
    [UInt8(ascii: "\\")] + [6, 3, 0].map { UInt8(ascii: "0") + byte >> $0 & 7 }
  }

  private static func hexadecimal(_ byte: UInt8) -> [UInt8] {
    Array(#"\x"#.utf8) + [HexForms.lowercase[Int(byte >> 4)], HexForms.lowercase[Int(byte & 15)]]
  }
}

extension Unicode.Scalar {
  fileprivate var value8: UInt8 { UInt8(truncatingIfNeeded: value) }
}

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

/// The encodings of a value in HTML and XML. Programs differ in whether and how they escape quotes.
enum HTMLForms {
  static func all(of bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    guard bytes.contains(where: { special.contains($0) }) else { return [] }
    let escapesSlash = bytes.contains { slashed.contains($0) }
    return styles.compactMap { style in
      if style.escapesSlash, !escapesSlash { return nil }
      return escaped(
        bytes, Array(style.quote.utf8), Array(style.apostrophe.utf8), style.escapesSlash)
    }
  }

  private static let styles: [(quote: String, apostrophe: String, escapesSlash: Bool)] = [
    ("\"", "'", false),  // text without attributes: browsers, jq's @text in templates
    ("&quot;", "'", false),  // attributes: browsers, PHP before 8.1
    ("&quot;", "&#39;", false),  // jq's @html, most templates
    ("&quot;", "&#x27;", false),  // Python
    ("&quot;", "&#039;", false),  // PHP
    ("&quot;", "&apos;", false),  // XML
    ("&#34;", "&#39;", false),  // Go
    ("&quot;", "&#39;", true),  // Mustache
    ("&quot;", "&#x27;", true),  // OWASP
  ]

  private static let special = Set("&<>\"'/`=".utf8)
  private static let slashed = Set("/`=".utf8)

  private static func escaped(
    _ bytes: ArraySlice<UInt8>, _ quote: [UInt8], _ apostrophe: [UInt8], _ escapesSlash: Bool
  ) -> [UInt8] {
    var form: [UInt8] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "&"): form += Array("&amp;".utf8)
      case UInt8(ascii: "<"): form += Array("&lt;".utf8)
      case UInt8(ascii: ">"): form += Array("&gt;".utf8)
      case UInt8(ascii: "\""): form += quote
      case UInt8(ascii: "'"): form += apostrophe
      case UInt8(ascii: "/") where escapesSlash: form += Array("&#x2F;".utf8)
      case UInt8(ascii: "`") where escapesSlash: form += Array("&#x60;".utf8)
      case UInt8(ascii: "=") where escapesSlash: form += Array("&#x3D;".utf8)
      default: form.append(byte)
      }
    }
    return form
  }
}

/// A value with its backslash escapes replaced, as `echo` of many shells, `printf %b` and JSON readers do. Text
/// such as `-----BEGIN KEY-----\nMIIE…` then has several lines.
enum UnescapedForms {
  static func all(of value: [UInt8]) -> [[UInt8]] {
    guard value.contains(backslash) else { return [] }
    let forms = [done(value, byShell), done(value, byJSON)]
    return forms[0] == forms[1] ? [forms[0]] : forms
  }

  private static let backslash = UInt8(ascii: "\\")

  /// POSIX `echo`, XSI; without octal numbers.
  private static let byShell: [UInt8: UInt8] = [
    UInt8(ascii: "a"): 0x07, UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09,
    UInt8(ascii: "n"): 0x0A, UInt8(ascii: "v"): 0x0B, UInt8(ascii: "f"): 0x0C,
    UInt8(ascii: "r"): 0x0D, backslash: backslash,
  ]

  /// RFC 8259 §7; without code points.
  private static let byJSON: [UInt8: UInt8] = [
    UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A,
    UInt8(ascii: "f"): 0x0C, UInt8(ascii: "r"): 0x0D, backslash: backslash,
    UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "\""): UInt8(ascii: "\""),
  ]

  /// Leaves invalid escapes unchanged.
  private static func done(_ value: [UInt8], _ meanings: [UInt8: UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var rest = value[...]
    while let byte = rest.popFirst() {
      if byte == backslash, let next = rest.first, let meaning = meanings[next] {
        result.append(meaning)
        rest.removeFirst()
      } else {
        result.append(byte)
      }
    }
    return result
  }
}
