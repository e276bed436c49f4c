package import WeftDiagnostics
import WeftJSON

/// Formats diagnostics as a SARIF 2.1.0 log (OASIS, 27 March 2020), for code scanning.
///
/// One run, one result per diagnostic, one rule per code. Columns are Unicode code points. A path becomes a URI
/// reference; a relative path stays relative to the location where the log is read.
package struct DiagnosticSARIF: Sendable {
  /// The version of the writing program.
  private let version: String

  /// - Parameter version: Weft's own version.
  package init(version: String) {
    self.version = version
  }

  /// Returns the indented log with a line end.
  ///
  /// - Parameter collections: One for each checked file.
  package func rendered(_ collections: [DiagnosticCollection]) -> [UInt8] {
    let diagnostics = collections.flatMap(\.shown)
    let codes = Set(diagnostics.map(\.code)).sorted()
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.beginObject()
    writer.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
    writer.member("version", "2.1.0")
    writer.key("runs")
    writer.beginArray()
    writer.beginObject()
    writeTool(codes, to: &writer)
    writer.member("columnKind", "unicodeCodePoints")
    writer.key("results")
    writer.beginArray()
    for diagnostic in diagnostics {
      writeResult(diagnostic, rule: codes.firstIndex(of: diagnostic.code) ?? -1, to: &writer)
    }
    writer.endArray()
    writeHiddenCount(collections.reduce(0) { $0 + $1.hiddenCount }, to: &writer)
    writer.endObject()
    writer.endArray()
    writer.endObject()
    writer.endLine()
    return writer.bytes
  }

  private func writeTool(_ codes: [String], to writer: inout JSONWriter) {
    writer.key("tool")
    writer.beginObject()
    writer.key("driver")
    writer.beginObject()
    writer.member("name", "weft")
    writer.member("version", version)
    writer.key("rules")
    writer.beginArray()
    for code in codes {
      writer.beginObject()
      writer.member("id", code)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    writer.endObject()
  }

  private func writeResult(_ diagnostic: Diagnostic, rule: Int, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("ruleId", diagnostic.code)
    writer.member("ruleIndex", rule)
    writer.member("level", diagnostic.severity.rawValue)
    writeMessage(
      diagnostic.message + (diagnostic.help.map { "\nhelp: " + $0 } ?? ""), to: &writer)
    if let place = diagnostic.place {
      writer.key("locations")
      writer.beginArray()
      writeLocation(place, to: &writer)
      writer.endArray()
    }
    writeRelated(diagnostic.related, to: &writer)
    writer.endObject()
  }

  private func writeRelated(_ related: [Diagnostic.Related], to writer: inout JSONWriter) {
    guard !related.isEmpty else { return }
    writer.key("relatedLocations")
    writer.beginArray()
    for (index, related) in related.enumerated() {
      writeLocation(related.place, id: index + 1, message: related.message, to: &writer)
    }
    writer.endArray()
  }

  private func writeLocation(
    _ place: Diagnostic.Place?, id: Int? = nil, message: String? = nil, to writer: inout JSONWriter
  ) {
    writer.beginObject()
    if let id { writer.member("id", id) }
    if let message { writeMessage(message, to: &writer) }
    if let place {
      writer.key("physicalLocation")
      writer.beginObject()
      writer.key("artifactLocation")
      writer.beginObject()
      writer.member("uri", DiagnosticSARIF.uri(ofPath: place.file.path))
      writer.endObject()
      writeRegion(place, to: &writer)
      writer.endObject()
    }
    writer.endObject()
  }

  /// Writes a region; its end column is exclusive (§3.30.8).
  private func writeRegion(_ place: Diagnostic.Place, to writer: inout JSONWriter) {
    let start = place.file.position(of: Int(place.range.start))
    let end = place.file.position(of: Int(place.range.end))
    writer.key("region")
    writer.beginObject()
    writer.member("startLine", start.line)
    writer.member("startColumn", start.column)
    writer.member("endLine", end.line)
    writer.member("endColumn", end.column)
    writer.endObject()
  }

  private func writeMessage(_ text: String, to writer: inout JSONWriter) {
    writer.key("message")
    writer.beginObject()
    writer.member("text", DiagnosticSARIF.escaped(text))
    writer.endObject()
  }

  /// Doubles braces (§3.11.5), and escapes brackets that would form a link (§3.11.6).
  static func escaped(_ text: String) -> String {
    let hasLink = text.contains("](")
    var escaped = ""
    for character in text {
      switch character {
      case "{", "}": escaped += "\(character)\(character)"
      case "[", "]", "\\": escaped += hasLink ? "\\\(character)" : "\(character)"
      default: escaped.append(character)
      }
    }
    return escaped
  }

  private func writeHiddenCount(_ count: Int, to writer: inout JSONWriter) {
    guard count > 0 else { return }
    writer.key("properties")
    writer.beginObject()
    writer.member("notShown", count)
    writer.endObject()
  }

  /// Returns a URI reference (RFC 3986 §4.1) for a path; a `file` URI for an absolute one.
  static func uri(ofPath path: String) -> String {
    var encoded = ""
    for byte in path.utf8 {
      let scalar = Unicode.Scalar(byte)
      if byte < 0x80, isPlain(scalar) {
        encoded.unicodeScalars.append(scalar)
      } else {
        encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return path.hasPrefix("/") ? "file://" + encoded : encoded
  }

  /// Whether a path may contain the character unescaped. Colons are escaped, although allowed, because they would
  /// make a first segment look like a scheme.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: "-._~!$&'()*+,;=@/".unicodeScalars.contains(scalar)
    }
  }
}
