/// XML that is being written, as bytes in UTF-8.
package struct Markup {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ text: StaticString) {
    bytes.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  package mutating func append(_ number: Int) { bytes.append(contentsOf: String(number).utf8) }

  /// Appends an attribute with a number.
  package mutating func append(_ name: StaticString, _ number: Int) {
    append(" ")
    append(name)
    append("=\"")
    append(number)
    append("\"")
  }

  /// Appends text as content or as the value of an attribute. No text ends an element, and characters that XML 1.0 §2.2
  /// forbids or discourages, or that reorder text, become U+FFFD.
  package mutating func append(text: String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": append("&amp;")
      case "<": append("&lt;")
      case ">": append("&gt;")
      case "\"": append("&quot;")
      case "'": append("&#39;")
      case _ where Markup.isShown(scalar): bytes.append(contentsOf: UTF8.encode(scalar)!)
      default: append("\u{FFFD}")
      }
    }
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0A: true
    case ..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
    case 0xFDD0...0xFDEF: false
    default: scalar.value & 0xFFFE != 0xFFFE
    }
  }
}
