import WeftExpressions
import WeftHTTP

/// The URL of a proxy. A value in its user or password is percent-encoded, so that none of its characters ends
/// the password or begins another host; any other value is used unchanged.
enum RequestProxy {
  static func text(of template: Template, _ values: [ScopedText]) -> ScopedText {
    let credentials = credentials(in: template.segments)
    var url = ""
    var next = 0
    for (index, segment) in template.segments.enumerated() {
      switch segment.content {
      case .text(let text): url += text
      case .expression:
        let value = values[next].text
        url += credentials.contains(index) ? PercentEncoding.queryValue(value) : value
        next += 1
      }
    }
    return ScopedText(text: url, isSecret: values.contains(where: \.isSecret))
  }

  /// The segments between "://" and the "@" before the host.
  private static func credentials(in segments: [Template.Segment]) -> Range<Int> {
    var start: Int?
    var end = 0
    var before = ""
    for (index, segment) in segments.enumerated() {
      for byte in (segment.literal ?? "").utf8 {
        if start != nil {
          if byte == UInt8(ascii: "@") { end = index }
          if "/?#".utf8.contains(byte) { return range(start, end) }
        } else {
          before.unicodeScalars.append(Unicode.Scalar(byte))
          if before.hasSuffix("://") { start = index }
        }
      }
    }
    return range(start, end)
  }

  private static func range(_ start: Int?, _ end: Int) -> Range<Int> {
    guard let start, start < end else { return 0..<0 }
    return start..<end
  }
}
