/// Escapes text for a terminal and measures its columns.
package enum TerminalText {
  /// The number of columns a terminal uses for one character, for text that ``escape(_:)`` leaves unchanged.
  ///
  /// A combining mark and a joined emoji belong to the character before them and add nothing.
  package static func width(of character: Character) -> Int {
    if character.isASCII { return 1 }
    let scalars = character.unicodeScalars
    let isEmojiByChoice =
      scalars.contains { $0 == "\u{FE0F}" } && scalars.contains(where: \.properties.isEmoji)
    if isEmojiByChoice || scalars.contains(where: WideScalars.contains) { return 2 }
    return scalars.count { !isZeroWidth($0) }
  }

  /// A visible spelling for a scalar that would move the cursor, change colours, reorder the line or be invisible;
  /// `nil` for one that needs no escape.
  package static func escape(_ scalar: Unicode.Scalar) -> String? {
    let value = scalar.value
    switch value {
    case 0x20..<0x7F: return nil
    // As in JSON.
    case 0x09: return "\\t"
    case 0x0A: return "\\n"
    case 0x0D: return "\\r"
    case 0x00..<0x20, 0x7F..<0xA0: return "\\x" + hex(value, digits: 2)
    case 0x061C, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB:
      return "\\u{" + hex(value, digits: 4) + "}"
    case 0xE0000...0xE0FFF where !scalar.properties.isVariationSelector:
      return "\\u{" + hex(value, digits: 5) + "}"
    default: return nil
    }
  }

  /// A visible spelling for a byte that is not UTF-8.
  static func escape(byte: UInt8) -> String { "\\x" + hex(UInt32(byte), digits: 2) }

  /// The text on one line, without anything that a terminal would interpret.
  package static func harmless(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { escape($0) != nil }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if let visible = escape(scalar) {
        result += visible
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isZeroWidth(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: true
    // Vowels and finals of decomposed Hangul syllables are drawn over their first consonant.
    default: (0x1160...0x11FF).contains(scalar.value)
    }
  }

  private static func hex(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
