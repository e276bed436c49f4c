import WeftDefinition
import WeftDiagnostics

/// A text that is taken literally, which is hardly intended.
struct LiteralRemark: Sendable, Hashable {
  let message: String
  let help: String

  /// - Parameters:
  ///   - workflow: Only copied for a text with braces, since that takes longer than to look at most texts.
  ///   - isOnly: Whether no argument follows.
  init?(
    _ text: String, at site: TextSite, in workflow: @autoclosure () -> Workflow,
    isOnly: Bool = false
  ) {
    switch site {
    case .argument(0)
    where isOnly && text.utf8.contains(UInt8(ascii: " "))
      && !text.utf8.contains(UInt8(ascii: "/")) && !text.hasExpression:
      // The only element of a command line, with a space in it.
      message = "the program is called \(quoted(shortened(text))): an array is not split at spaces"
      let words = text.split(separator: " ").map { quoted(String($0)) }
      help = "write \(quoted(text)) without brackets, or [" + words.joined(separator: ", ") + "]"
      return
    case .argument(let index)
    where index > 0 && text.utf8.count <= LiteralRemark.longestSign
      && LiteralRemark.shellSigns.contains(text):
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
    guard text.utf8.contains(UInt8(ascii: "{")),
      let braces = BareBraces.first(in: text, at: site, of: workflow())
    else { return nil }
    message = "\(quoted(shortened(braces.text))) is not an expression, and is used as it is"
    help = braces.help
  }

  private static let shellSigns: Set<String> = [
    "|", "||", "&&", ";", ">", ">>", "<", "2>&1", "&", "2>", "&>", "|&",
  ]
  /// The bytes of the longest of them; most arguments are longer, and need not be hashed.
  private static let longestSign = 4

  /// Finds `$HOME` or `${HOME}`: a dollar sign and a name in capitals.
  private static func variable(in text: String) -> String? {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return nil }
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
}

/// A text in double braces without a dollar sign before them, which is probably meant as an expression: as in templates
/// of just, Task or GitHub Actions.
struct BareBraces {
  let text: String
  let help: String

  /// Finds `{{ inputs.x }}`, with a context of expressions in it; `{{ x }}` or `{{ .x }}`, with a name that the workflow
  /// declares; and `{{ x }}` outside quotes in a script, where no program reads it as a template.
  static func first(in text: String, at site: TextSite, of workflow: Workflow) -> BareBraces? {
    let bytes = Array(text.utf8)
    var next = 0
    var script: ScriptQuotes? = if case .script = site { ScriptQuotes(bytes) } else { nil }
    while let open = pair(of: UInt8(ascii: "{"), in: bytes, from: next) {
      next = open + 2
      if open > 0, bytes[open - 1] == UInt8(ascii: "$") { continue }
      guard let end = pair(of: UInt8(ascii: "}"), in: bytes, from: next) else { return nil }
      let inside = bytes[next..<end].drop { $0 == UInt8(ascii: " ") }
      let whole = String(decoding: bytes[open..<end + 2], as: UTF8.self)
      if contexts.contains(where: { inside.starts(with: $0.utf8) }) {
        return BareBraces(text: whole, help: "write ${{ … }}: $\(shortened(whole))")
      }
      guard let (name, hasDot) = name(in: inside) else { continue }
      if let expression = workflow.expression(named: name) {
        return BareBraces(text: whole, help: "write ${{ \(expression) }}")
      }
      if !hasDot, script?.isBare(open..<end + 2) == true {
        return BareBraces(
          text: whole, help: "declare an input \(quoted(name)), and write ${{ inputs.\(name) }}")
      }
    }
    return nil
  }

  private static let contexts = ["inputs.", "steps.", "env.", "secrets.", "matrix.", "item."]
  /// Words of Go's templates.
  private static let keywords: Set<String> = ["end", "else", "break", "continue"]

  /// The name that is all there is between the braces, and whether a dot is before it.
  private static func name(in inside: ArraySlice<UInt8>) -> (name: String, hasDot: Bool)? {
    let end = inside.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? inside.startIndex
    let words = inside[..<end]
    let name = words.first == UInt8(ascii: ".") ? words.dropFirst() : words
    let text = String(decoding: name, as: UTF8.self)
    guard let first = text.first, first.isLetter || first == "_", !keywords.contains(text),
      text.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" })
    else { return nil }
    return (text, name.count < words.count)
  }

  /// The first place where a byte occurs twice in a row.
  fileprivate static func pair(of byte: UInt8, in bytes: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + 1 < bytes.count {
      if bytes[index] == byte, bytes[index + 1] == byte { return index }
      index += 1
    }
    return nil
  }
}

/// The quotes of a script, roughly, read once from its beginning.
private struct ScriptQuotes {
  private let script: [UInt8]
  private let hasDocument: Bool
  private var index = 0
  private var quote: UInt8?

  init(_ script: [UInt8]) {
    self.script = script
    hasDocument = BareBraces.pair(of: UInt8(ascii: "<"), in: script, from: 0) != nil
  }

  /// Whether braces are an unquoted part of a word that is no pattern, such as in `s/{{x}}/1/`.
  ///
  /// - Parameter range: After those of earlier calls.
  mutating func isBare(_ range: Range<Int>) -> Bool {
    // Programs read here-documents as templates.
    if hasDocument { return false }
    read(upTo: range.lowerBound)
    let slash = UInt8(ascii: "/")
    let isPattern =
      range.lowerBound > 0 && script[range.lowerBound - 1] == slash
      && range.upperBound < script.count && script[range.upperBound] == slash
    return quote == nil && !isPattern
  }

  private mutating func read(upTo end: Int) {
    while index < end {
      let byte = script[index]
      index += 1
      if byte == UInt8(ascii: "\\"), quote != UInt8(ascii: "'") {
        index += 1
      } else if byte == quote {
        quote = nil
      } else if quote == nil,
        [UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`")].contains(byte)
      {
        quote = byte
      }
    }
  }
}

extension Workflow {
  /// The expression that evaluates to what this name declares.
  fileprivate func expression(named name: String) -> String? {
    if inputs.contains(where: { $0.name.text == name }) { return "inputs.\(name)" }
    if secrets.contains(where: { $0.name.text == name }) { return "secrets.\(name)" }
    if state.contains(where: { $0.name.text == name }) { return "state.\(name)" }
    return nil
  }
}

extension Diagnostic {
  static func literal(_ remark: LiteralRemark) -> Diagnostic {
    Diagnostic("W0516", remark.message, help: remark.help, severity: .warning)
  }
}
