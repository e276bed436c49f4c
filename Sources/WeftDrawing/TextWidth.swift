/// The width of text before any program has drawn it.
///
/// The widths are those of Helvetica (Adobe, AFM 1997), which Arial and Liberation Sans share. The writer also states
/// each width in the drawing, so that a viewer fits other fonts into it.
enum TextWidth {
  enum Font {
    case sans
    case bold
    case monospaced
  }

  /// The widths of the printable characters of ASCII, in thousandths of the size.
  private static let ascii: [Int] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
  ]

  /// The width in pixels, rounded up.
  static func pixels(_ text: String, _ font: Font, size: Int) -> Int {
    var sum = 0
    for scalar in text.unicodeScalars { sum += width(scalar, font) }
    // Bold letters are wider by a tenth or less.
    if font == .bold { sum = sum * 11 / 10 }
    return (sum * size + 999) / 1000
  }

  private static func width(_ scalar: Unicode.Scalar, _ font: Font) -> Int {
    switch scalar.value {
    case 0x20...0x7E: return font == .monospaced ? 602 : ascii[Int(scalar.value) - 0x20]
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
      return 1000
    case 0x1F000...0x1FAFF: return 1300
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return font == .monospaced ? 602 : 650
    }
  }
}
