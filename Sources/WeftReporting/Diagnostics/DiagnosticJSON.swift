package import WeftDiagnostics
import WeftJSON

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
    writer.beginObject()
    writer.member("format", DiagnosticJSON.format)
    writer.member("errors", collections.reduce(0) { $0 + $1.errorCount })
    writer.member("warnings", collections.reduce(0) { $0 + $1.warningCount })
    writer.member("notShown", collections.reduce(0) { $0 + $1.hiddenCount })
    writer.key("diagnostics")
    writer.beginArray()
    for diagnostic in collections.flatMap(\.shown) { write(diagnostic, to: &writer) }
    writer.endArray()
    writer.endObject()
    writer.endLine()
    return writer.bytes
  }

  private func write(_ diagnostic: Diagnostic, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("severity", diagnostic.severity.rawValue)
    writer.member("code", diagnostic.code)
    writer.member("message", diagnostic.message)
    if let help = diagnostic.help { writer.member("help", help) }
    write(diagnostic.place, to: &writer)
    if !diagnostic.related.isEmpty {
      writer.key("related")
      writer.beginArray()
      for related in diagnostic.related {
        writer.beginObject()
        writer.member("message", related.message)
        write(related.place, to: &writer)
        writer.endObject()
      }
      writer.endArray()
    }
    writer.endObject()
  }

  private func write(_ place: Diagnostic.Place?, to writer: inout JSONWriter) {
    guard let place else { return }
    writer.member("file", place.file.path)
    writer.key("start")
    write(Int(place.range.start), of: place.file, to: &writer)
    writer.key("end")
    write(Int(place.range.end), of: place.file, to: &writer)
  }

  private func write(_ offset: Int, of file: SourceFile, to writer: inout JSONWriter) {
    let position = file.position(of: offset)
    writer.beginObject()
    writer.member("line", position.line)
    writer.member("column", position.column)
    writer.member("offset", offset)
    writer.endObject()
  }
}
