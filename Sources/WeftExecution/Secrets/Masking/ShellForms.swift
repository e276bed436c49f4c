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
