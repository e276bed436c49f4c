package import WeftDiagnostics
package import WeftJSON

/// Formats diagnostics as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Members that do not
/// apply are omitted. Lines and columns count from 1, columns in Unicode scalars, `offset` in bytes from 0; `end` is
/// the position after the last character.
package struct DiagnosticJSON: Sendable {
  package static let format = 1

  package init() {}

  /// Returns the indented text with a line end.
  ///
  /// - Parameter collections: One for each checked file.
  package func rendered(_ collections: [DiagnosticCollection]) -> [UInt8] {
    var writer = JSONWriter(.pretty, capacity: 4096)
    writer.object {
      $0.member("format", DiagnosticJSON.format)
      $0.member("errors", collections.reduce(0) { $0 + $1.errorCount })
      $0.member("warnings", collections.reduce(0) { $0 + $1.warningCount })
      $0.member("notShown", collections.reduce(0) { $0 + $1.hiddenCount })
      $0.array("diagnostics") {
        for diagnostic in collections.flatMap(\.shown) { write(diagnostic, to: &$0) }
      }
    }
    writer.endLine()
    return writer.bytes
  }

  /// Writes one diagnostic, for other documents that contain some.
  package func write(_ diagnostic: Diagnostic, to writer: inout JSONWriter) {
    writer.object {
      $0.member("severity", diagnostic.severity.rawValue)
      $0.member("code", diagnostic.code)
      $0.member("message", diagnostic.message)
      $0.member("help", diagnostic.help)
      write(diagnostic.place, to: &$0)
      if diagnostic.related.isEmpty { return }
      $0.array("related") {
        for related in diagnostic.related {
          $0.object {
            $0.member("message", related.message)
            write(related.place, to: &$0)
          }
        }
      }
    }
  }

  private func write(_ place: Diagnostic.Place?, to writer: inout JSONWriter) {
    guard let place else { return }
    writer.member("file", place.file.path)
    writer.object("start") { write(Int(place.range.start), of: place.file, to: &$0) }
    writer.object("end") { write(Int(place.range.end), of: place.file, to: &$0) }
  }

  private func write(_ offset: Int, of file: SourceFile, to writer: inout JSONWriter) {
    let position = file.position(of: offset)
    writer.member("line", position.line)
    writer.member("column", position.column)
    writer.member("offset", offset)
  }
}
