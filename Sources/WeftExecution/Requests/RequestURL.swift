import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftHTTP
import WeftPlanning

/// A URL made of literal text and of values, each escaped for its part of the URL: a value never leads to
/// another host, path or parameter than the literal text says.
enum RequestURL {
  static func text(
    of template: Template, _ values: [ScopedText]
  ) throws(ExpressionError) -> ScopedText {
    let segments = template.segments
    guard let placeholders = URLTemplate.read(segments).template?.placeholders else {
      preconditionFailure("the planner let pass a URL with an expression in a wrong place")
    }
    var url = ""
    var next = 0
    for (index, segment) in segments.enumerated() {
      switch segment.content {
      case .text(let text): url += text
      case .expression(let expression):
        let value = values[next].text
        let after = segments.dropFirst(index + 1).first?.literal ?? ""
        url += try written(
          value, placeholders[next], between: url, and: after, expression.range,
          text: expression.text)
        next += 1
      }
    }
    return ScopedText(text: url, isSecret: values.contains(where: \.isSecret))
  }

  private static func written(
    _ value: String, _ placeholder: URLPlaceholder, between before: String, and after: String,
    _ range: SourceRange, text: String
  ) throws(ExpressionError) -> String {
    switch placeholder {
    case .whole: return value
    case .base: return try base(value, range)
    case .host:
      guard !value.isEmpty, value.utf8.allSatisfy(isOfHost) else {
        throw fault("it comes to \(quoted(value)), which is no part of a host name", range)
      }
      return value
    case .segment:
      // Without the segment, the URL would name a different resource, such as the whole list instead of an
      // element.
      guard !value.isEmpty || !isAlone(between: before, and: after) else {
        throw fault(
          "\(text) is an empty text, so a part of the path would be missing", range,
          help: "run the step only \"if\" there is a value")
      }
      return PercentEncoding.segment(value)
    case .query: return PercentEncoding.queryValue(value)
    }
  }

  /// The beginning of a URL: a server, and optionally a path, followed by further text.
  private static func base(
    _ value: String, _ range: SourceRange
  ) throws(ExpressionError) -> String {
    let url: HTTPURL
    do { url = try HTTPURL(value) } catch { throw fault(error.message, range, help: error.help) }
    guard url.query == nil, !value.utf8.contains(UInt8(ascii: "#")) else {
      throw fault("it comes to \(quoted(value)), which has a query, and more follows", range)
    }
    return value.hasSuffix("/") ? String(value.dropLast()) : value
  }

  private static func isAlone(between before: String, and after: String) -> Bool {
    before.hasSuffix("/") && (after.isEmpty || "/?#".contains(after.first!))
  }

  private static func isOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._:[]".utf8.contains(byte)
    }
  }

  private static func fault(
    _ message: String, _ range: SourceRange, help: String? = nil
  ) -> ExpressionError {
    ExpressionError(.scope(code: "W0428", message: message, help: help), range)
  }
}
