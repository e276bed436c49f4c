import WeftDefinition
import WeftDiagnostics

/// A text that is taken literally, which is hardly intended.
enum LiteralRemark: Sendable, Hashable {
  /// The only element of a command line, with a space in it.
  case commandInOneWord(String)
  /// An argument that only a shell would interpret.
  case shellSyntax(String)
  /// `{{ inputs.x }}`
  case bracesWithoutDollar(String)
  /// `$NAME` in a value of `env`.
  case unexpandedVariable(String, in: String)

  /// - Parameter isOnly: Whether no argument follows.
  init?(_ text: String, at site: TextSite, isOnly: Bool = false) {
    let hasExpression = text.hasExpression
    switch site {
    case .argument(0) where isOnly && !hasExpression && text.contains(" ") && !text.contains("/"):
      self = .commandInOneWord(text)
      return
    case .argument(let index) where index > 0 && LiteralRemark.shellSigns.contains(text):
      self = .shellSyntax(text)
      return
    case .variable(let name):
      if let variable = LiteralRemark.variable(in: text) {
        self = .unexpandedVariable(variable, in: name)
        return
      }
    default: break
    }
    guard let braces = LiteralRemark.bareBraces(in: text) else { return nil }
    self = .bracesWithoutDollar(braces)
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

  var message: String {
    switch self {
    case .commandInOneWord(let text):
      "the program is called \(quoted(shortened(text))): an array is not split at spaces"
    case .shellSyntax(let text):
      "\(quoted(text)) is handed to the program as an argument: no shell reads an array"
    case .bracesWithoutDollar(let text):
      "\(quoted(shortened(text))) is no expression, and stays as it is"
    case .unexpandedVariable(let variable, let name):
      "nothing in \"env.\(name)\" is expanded: \"$\(variable)\" stays as it is"
    }
  }

  var help: String {
    switch self {
    case .commandInOneWord(let text):
      "write \(quoted(text)) without brackets, or ["
        + text.split(separator: " ").map { quoted(String($0)) }.joined(separator: ", ") + "]"
    case .shellSyntax: "write \"run\" as one string"
    case .bracesWithoutDollar(let text): "write ${{ … }}: $\(shortened(text))"
    case .unexpandedVariable(let variable, let name):
      "set it in the script: \(name)=\"…$\(variable)…\"; or declare an input, and write ${{ inputs.… }}"
    }
  }
}
