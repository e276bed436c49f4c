package import WeftDiagnostics
import WeftEncoding
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
    let hiddenCount = collections.reduce(0) { $0 + $1.hiddenCount }
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
      $0.member("version", "2.1.0")
      $0.array("runs") {
        $0.object {
          writeTool(codes, to: &$0)
          $0.member("columnKind", "unicodeCodePoints")
          $0.array("results") {
            for diagnostic in diagnostics {
              write(diagnostic, rule: codes.firstIndex(of: diagnostic.code) ?? -1, to: &$0)
            }
          }
          if hiddenCount > 0 { $0.object("properties") { $0.member("notShown", hiddenCount) } }
        }
      }
    }
    writer.endLine()
    return writer.bytes
  }

  private func writeTool(_ codes: [String], to writer: inout JSONWriter) {
    writer.object("tool") {
      $0.object("driver") {
        $0.member("name", "weft")
        $0.member("version", version)
        $0.array("rules") {
          for code in codes { $0.object { $0.member("id", code) } }
        }
      }
    }
  }

  private func write(_ diagnostic: Diagnostic, rule: Int, to writer: inout JSONWriter) {
    writer.object {
      $0.member("ruleId", diagnostic.code)
      $0.member("ruleIndex", rule)
      $0.member("level", diagnostic.severity.rawValue)
      let help = diagnostic.help.map { "\nhelp: " + $0 } ?? ""
      writeMessage(diagnostic.message + help, to: &$0)
      if let place = diagnostic.place {
        $0.array("locations") { $0.object { write(place, to: &$0) } }
      }
      if diagnostic.related.isEmpty { return }
      $0.array("relatedLocations") {
        for (index, related) in diagnostic.related.enumerated() {
          $0.object {
            $0.member("id", index + 1)
            writeMessage(related.message, to: &$0)
            if let place = related.place { write(place, to: &$0) }
          }
        }
      }
    }
  }

  /// Writes a location; the end column of its region is exclusive (§3.30.8).
  private func write(_ place: Diagnostic.Place, to writer: inout JSONWriter) {
    let start = place.file.position(of: Int(place.range.start))
    let end = place.file.position(of: Int(place.range.end))
    writer.object("physicalLocation") {
      $0.object("artifactLocation") {
        $0.member("uri", DiagnosticSARIF.uri(ofPath: place.file.path))
      }
      $0.object("region") {
        $0.member("startLine", start.line)
        $0.member("startColumn", start.column)
        $0.member("endLine", end.line)
        $0.member("endColumn", end.column)
      }
    }
  }

  private func writeMessage(_ text: String, to writer: inout JSONWriter) {
    writer.object("message") { $0.member("text", DiagnosticSARIF.escaped(text)) }
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
