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
    var part = PathPart()
    for (index, segment) in segments.enumerated() {
      switch segment.content {
      case .text(let text):
        url += text
        try part.append(literal: text)
      case .expression(let expression):
        let value = values[next].text
        let after = segments.dropFirst(index + 1).first?.literal ?? ""
        url += try written(
          value, placeholders[next], between: url, and: after, expression.range,
          text: expression.text)
        if placeholders[next] == .segment { part.append(value, of: expression) }
        next += 1
      }
    }
    try part.end()
    return ScopedText(text: url, isSecret: values.contains(where: \.isSecret))
  }

  /// The text between two slashes of the path. Servers resolve `..` also if it is percent-encoded, and some decode a
  /// slash before that, so no value may contain it between slashes.
  private struct PathPart {
    private var text = ""
    private var value: Expression?

    mutating func append(literal: String) throws(ExpressionError) {
      let pieces = literal.split(
        omittingEmptySubsequences: false, whereSeparator: { "/?#".contains($0) })
      for (index, piece) in pieces.enumerated() {
        if index > 0 { try end() }
        text += PercentEncoding.decoded(piece)
      }
    }

    mutating func append(_ value: String, of expression: Expression) {
      text += value
      self.value = self.value ?? expression
    }

    mutating func end() throws(ExpressionError) {
      defer { self = PathPart() }
      guard let value else { return }
      let names = text.split(whereSeparator: { "/\\".contains($0) })
      if text == "." || names.contains("..") {
        throw fault(
          "the part \(quoted(text)) of the path would lead to another path", value.range,
          help: "a value that names a part of a path is not \".\" and has no \"..\" between slashes"
        )
      }
    }
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
        throw fault("it evaluates to \(quoted(value)), which is not valid in a host name", range)
      }
      return value
    case .segment:
      // Without the segment, the URL would name a different resource, such as the whole list instead of an
      // element.
      guard !value.isEmpty || !isAlone(between: before, and: after) else {
        throw fault(
          "\(text) is an empty string, so a part of the path would be missing", range,
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
      throw fault(
        "it evaluates to \(quoted(value)), which has a query, but "
          + "more text follows", range)
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

/// The path of a file that a request reads or writes, made of literal text and of values. A value may come from
/// a server, so it can never lead out of the literal directory.
enum RequestPath {
  static func text(
    of template: Template, _ values: [ScopedText]
  ) throws(ExpressionError) -> ScopedText {
    var path = ""
    var isWritten = true
    /// The length of the literal directory in the path.
    var trusted = 0
    var next = 0
    var first: Expression?
    for segment in template.segments {
      switch segment.content {
      case .text(let text):
        path += text
        if isWritten { trusted = bytesOfDirectory(in: path) }
      case .expression(let expression):
        isWritten = false
        first = first ?? expression
        path += values[next].text
        next += 1
      }
    }
    let rest = path.utf8.dropFirst(trusted)
    guard let first, !staysInside(rest, isBeginning: trusted == 0) else {
      return ScopedText(text: path, isSecret: values.contains(where: \.isSecret))
    }
    throw ExpressionError(
      .scope(
        code: "W0427",
        message: "it evaluates to \(quoted(path)), which leads out of the literal directory",
        help:
          "write the directory literally, and use expressions only for names in it"), first.range)
  }

  private static func bytesOfDirectory(in path: String) -> Int {
    let bytes = Array(path.utf8)
    return bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
  }

  /// Checked lexically: symbolic links in directories are trusted.
  private static func staysInside(
    _ path: some Collection<UInt8>, isBeginning: Bool
  ) -> Bool {
    if path.contains(0) || isBeginning && path.first == UInt8(ascii: "/") { return false }
    var depth = 0
    for name in path.split(separator: UInt8(ascii: "/")) {
      if name.elementsEqual("..".utf8) {
        depth -= 1
      } else if !name.elementsEqual(".".utf8) {
        depth += 1
      }
      if depth < 0 { return false }
    }
    return depth > 0
  }
}

extension Template.Segment {
  /// The literal text; `nil` for an expression.
  var literal: String? {
    if case .text(let text) = content { text } else { nil }
  }
}

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
