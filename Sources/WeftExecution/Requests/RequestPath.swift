import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// The path of a file that a request reads or writes, made of what is written and of values: what a value says
/// may have come from a server, and never leads out of the directory that is written.
enum RequestPath {
  static func text(
    of template: Template, _ values: [ScopedText]
  ) throws(ExpressionFault) -> ScopedText {
    var path = ""
    var isWritten = true
    /// How much of the path is the directory that is written.
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
    throw ExpressionFault(
      .scope(
        code: "W0427",
        message: "it comes to \(quoted(path)), which leads out of the directory that is written",
        help: "write the directory out, and give names in it by expressions"), first.range)
  }

  private static func bytesOfDirectory(in path: String) -> Int {
    let bytes = Array(path.utf8)
    return bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
  }

  /// Lexically: links in directories are those of whoever made them.
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
  /// What is written there; `nil` of an expression.
  var literal: String? {
    if case .text(let text) = content { text } else { nil }
  }
}
