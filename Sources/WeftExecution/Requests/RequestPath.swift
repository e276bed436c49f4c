import WeftDefinition
import WeftDiagnostics
import WeftExpressions

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
        message: "it comes to \(quoted(path)), which leads out of the directory that is written",
        help: "write the directory out, and give names in it by expressions"), first.range)
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
