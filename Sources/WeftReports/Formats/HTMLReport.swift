import CWeftReports
import WeftDrawing
import WeftEncoding
import WeftPlanning
import WeftPlatform

/// A run as one self-contained page, opened from a file without a network.
///
/// The page is written in `CWeftReports/page`; here it gets its data. A policy allows only its own script and style, by
/// their hashes. The data are a block of JSON that no browser executes, and the script only ever shows them as text.
struct HTMLReport {
  private let run: ReportedRun

  init(_ run: ReportedRun) {
    self.run = run
  }

  func rendered() -> [UInt8] {
    let (style, script) = (Array(weft_page_style()), Array(weft_page_script()))
    var drawing = drawing
    let drawingStyle = SVGWriter.style.bytes
    var page = Markup()
    page.append(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src
      """)
    for bytes in [style, drawingStyle] { page.append(hashOf: bytes) }
    page.append("; script-src")
    page.append(hashOf: script)
    page.append(
      """
      ">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <title>
      """)
    page.append(text: run.masked(run.title))
    page.append("</title>\n<style>")
    var bytes = page.bytes
    bytes += style
    bytes += Array("</style>\n</head>\n<body>\n".utf8)
    let body = Array(weft_page_body())
    let label = Array("aria-label=\"Drawing of the graph\">".utf8)
    let place = body.firstOffset(of: label, from: 0)! + label.count
    bytes += body[..<place]
    bytes += drawing
    drawing = []
    bytes += body[place...]
    bytes += Array("<script type=\"application/json\" id=\"data\">".utf8)
    HTMLReport.append(ReportData(run).rendered(), to: &bytes)
    bytes += Array("</script>\n<script>".utf8)
    bytes += script
    bytes += Array("</script>\n</body>\n</html>\n".utf8)
    return bytes
  }

  /// The graph with the outcomes of its steps; a sentence if there is none.
  private var drawing: [UInt8] {
    guard let plan = run.plan else {
      return Array("<p>The workflow file is not readable any more.</p>".utf8)
    }
    return SVGWriter.element(plan.picture(of: run.outcomes(of: plan)))
  }

  /// Appends JSON as content of a script element: nothing in it can end that, or begin a comment (HTML §4.12.1.3), and
  /// it remains the same JSON.
  static func append(_ json: [UInt8], to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + json.count + 1024)
    var index = 0
    while index < json.count {
      switch json[index] {
      case UInt8(ascii: "<"): bytes += Array("\\u003c".utf8)
      case UInt8(ascii: ">"): bytes += Array("\\u003e".utf8)
      // U+2028 and U+2029, which end lines in old JavaScript.
      case 0xE2
      where index + 2 < json.count && json[index + 1] == 0x80 && json[index + 2] & 0xFE == 0xA8:
        bytes += Array((json[index + 2] == 0xA8 ? "\\u2028" : "\\u2029").utf8)
        index += 2
      default: bytes.append(json[index])
      }
      index += 1
    }
  }
}

extension [UInt8] {
  fileprivate init(_ part: weft_page_part) {
    self.init(UnsafeRawBufferPointer(start: part.bytes, count: part.count))
  }
}

extension Markup {
  /// Appends the hash of a script or style, as a policy names it (Content Security Policy Level 3, §2.3.1).
  fileprivate mutating func append(hashOf bytes: [UInt8]) {
    append(" 'sha256-")
    append(text: Base64.text(of: SHA256.digest(of: bytes)))
    append("'")
  }
}
