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
