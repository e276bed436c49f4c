import WeftDefinition
import WeftDiagnostics

/// A text that is taken literally, which is hardly intended.
struct LiteralRemark: Sendable, Hashable {
  let message: String
  let help: String

  /// - Parameter isOnly: Whether no argument follows.
  init?(_ text: String, at site: TextSite, isOnly: Bool = false) {
    switch site {
    case .argument(0)
    where isOnly && !text.hasExpression && text.contains(" ") && !text.contains("/"):
      // The only element of a command line, with a space in it.
      message = "the program is called \(quoted(shortened(text))): an array is not split at spaces"
      let words = text.split(separator: " ").map { quoted(String($0)) }
      help = "write \(quoted(text)) without brackets, or [" + words.joined(separator: ", ") + "]"
      return
    case .argument(let index) where index > 0 && LiteralRemark.shellSigns.contains(text):
      message =
        "\(quoted(text)) is passed to the program as an argument: an "
        + "array runs without a shell"
      help = "write \"run\" as one string"
      return
    case .variable(let name):
      if let variable = LiteralRemark.variable(in: text) {
        message = "variables in \"env.\(name)\" are not expanded: \"$\(variable)\" is used as it is"
        help =
          "set it in the script: \(name)=\"…$\(variable)…\"; or declare an input, and write"
          + " ${{ inputs.… }}"
        return
      }
    default: break
    }
    guard let braces = LiteralRemark.bareBraces(in: text) else { return nil }
    message = "\(quoted(shortened(braces))) is not an expression, and is used as it is"
    help = "write ${{ … }}: $\(shortened(braces))"
  }

  private static let shellSigns: Set<String> = [
    "|", "||", "&&", ";", ">", ">>", "<", "2>&1", "&", "2>", "&>", "|&",
  ]

  /// Finds `$HOME` or `${HOME}`: a dollar sign and a name in capitals.
  private static func variable(in text: String) -> String? {
    let bytes = Array(text.utf8)
    for start in bytes.indices where bytes[start] == UInt8(ascii: "$") {
      if start > 0, bytes[start - 1] == UInt8(ascii: "\\") || bytes[start - 1] == UInt8(ascii: "$")
      {
        continue
      }
      var rest = bytes[(start + 1)...]
      if rest.first == UInt8(ascii: "{") { rest.removeFirst() }
      let name = rest.prefix { byte in
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) || byte == UInt8(ascii: "_")
      }
      if name.count > 1 { return String(decoding: name, as: UTF8.self) }
    }
    return nil
  }

  /// Finds `{{ inputs.x }}` without a dollar sign before it, with a context of expressions in it.
  private static func bareBraces(in text: String) -> String? {
    guard text.utf8.contains(UInt8(ascii: "{")) else { return nil }
    for range in text.ranges(of: "{{") {
      if range.lowerBound > text.startIndex, text[text.index(before: range.lowerBound)] == "$" {
        continue
      }
      let inside = text[range.upperBound...].drop { $0 == " " }
      guard let end = inside.firstRange(of: "}}"),
        contexts.contains(where: { inside.hasPrefix($0 + ".") })
      else { continue }
      return String(text[range.lowerBound..<end.upperBound])
    }
    return nil
  }

  private static let contexts = ["inputs", "steps", "env", "secrets", "matrix", "item"]
}

extension Diagnostic {
  static func literal(_ remark: LiteralRemark) -> Diagnostic {
    Diagnostic(.warning, code: "W0516", message: remark.message, place: nil, help: remark.help)
  }
}
