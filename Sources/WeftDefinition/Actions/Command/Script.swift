public import WeftDiagnostics
import WeftJSON

/// A script in a file of its own.
public struct ScriptFile: Sendable, Hashable {
  /// The path as written: relative to the workflow file that names it.
  public var path: String
  /// The content of the file, without a byte order mark; `nil` until it has been read.
  public var text: String?
  /// Whether the file could not be used, and this was reported.
  package var isRejected = false
  /// The path, with its quotes.
  public var place: Written<SourceRange?>

  public init(path: String, text: String? = nil, place: SourceRange? = nil) {
    self.path = path
    self.text = text
    self.place = Written(place)
  }
}

extension Command.Invocation {
  /// The text for the step's shell; `nil` for a program.
  ///
  /// Empty for a script file that has not been read, with which no plan is made.
  public var script: String? {
    switch self {
    case .script(let text): text
    case .file(let file): file.text ?? ""
    case .program: nil
    }
  }
}

/// The location of a text that is not one string of the workflow file.
public enum TextSource: Sendable, Hashable {
  /// The strings of an array, with their quotes; the text is their contents joined by newlines.
  case lines([SourceRange])
  /// A whole file, except for a byte order mark.
  case file(SourceFile)
}

// MARK: Format

extension FormatKey<StepDraft> {
  static var script: FormatKey {
    FormatKey(
      "script", "Script",
      """
      A script of several lines for the shell, or a file with one: its path is relative to \
      this file.
      """,
      schema: #"""
        {"anyOf": ["@scriptLines", "@scriptFile"], "examples": [["cd web", "npm ci"],
        {"file": "build.sh"}]}
        """#, synonyms: "scripts lines", traits: [.action, .graphList]
    ) { pass, member, field, draft in
      let isFirst = draft.begin(.run, member.key, &pass)
      let invocation = pass.longScript(member.value, field)
      if isFirst { draft.invocation = invocation }
    }
  }
}

struct ScriptFileDraft: FormatObject {
  var path: String?
  var place: SourceRange?

  static let format = ObjectFormat<ScriptFileDraft>("a script") {
    FormatKey(
      "file", "Path", "Relative to the workflow file, and inside the start directory.",
      schema: #"{"$ref": "filledLiteralText", "not": {"pattern": "^/"}}"#, synonyms: "path src",
      required: #""file": "build.sh""#
    ) { pass, member, field, draft in
      guard let path = pass.filledText(member.value, field, wanted: "the path of a script") else {
        return
      }
      guard path.utf8.first != UInt8(ascii: "/") else {
        pass.report(.absolutePath(path: pass.path(field), text: path), at: member.value)
        return
      }
      draft.path = path
      draft.place = member.value.range
    }
  }
}

extension DecodingPass {
  fileprivate mutating func longScript(_ node: JSONNode, _ field: Field) -> Command.Invocation? {
    switch node.kind {
    case .array: return lines(node, field).map(Command.Invocation.script)
    case .object:
      var draft = ScriptFileDraft()
      read(node, field, into: &draft)
      guard let path = draft.path else { return nil }
      namesOtherFiles = true
      return .file(ScriptFile(path: path, place: draft.place))
    default:
      reportType(
        of: node, field, wanted: "an array of lines, or { \"file\": … }",
        help: node.kind == .string
          ? "write \"run\" for a script in one string, or { \"file\": … } for the path of one"
          : nil)
      return nil
    }
  }

  private mutating func lines(_ node: JSONNode, _ field: Field) -> String? {
    let known = texts.count
    let lines = elements(
      of: node, field, wanted: "an array of lines", atLeast: "at least one line"
    ) { $0.text($1, $2, at: .script) }
    // The lines are one text, also for an expression that spans several.
    texts.removeSubrange(known...)
    guard let lines, lines.count == node.elements.count else { return nil }
    let script = lines.joined(separator: "\n")
    guard !script.isEmpty else {
      report(.empty(path: path(field), wanted: "a script"), at: node)
      return nil
    }
    texts.append(
      TextPlace(.script, at: node.range, in: .lines(node.elements.map(\.range))))
    return script
  }
}

// MARK: The #! line

/// The shell that the first line of a script file names.
package enum ScriptHeader: Sendable, Hashable {
  /// It does not begin with `#!`.
  case none
  case shell(Shell)
  /// A program that is no shell to Weft, as written.
  case unknown(String)

  /// The options with which a script ends at the first command that fails, as ``Shell/named`` have them.
  private static let options: [String: [String]] = [
    "sh": ["-e"], "dash": ["-e"], "ash": ["-e"], "bash": ["-eo", "pipefail"],
    "zsh": ["-eo", "pipefail"], "ksh": ["-eo", "pipefail"], "python": [], "python3": [],
  ]

  package init(_ script: String) {
    guard script.utf8.starts(with: "#!".utf8) else {
      self = .none
      return
    }
    let line = script.utf8.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    var words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      .map { String(Substring($0)) }[...]
    let written = words.joined(separator: " ")
    if words.first?.hasSuffix("/env") == true {
      words.removeFirst()
      if words.first == "-S" { words.removeFirst() }
    }
    guard let program = words.popFirst(), !program.contains("="),
      let usual = ScriptHeader.options["\(program.split(separator: "/").last ?? "")"],
      ScriptHeader.areOptions(words)
    else {
      self = .unknown(written)
      return
    }
    // A lone dash ends the options.
    let own = words.filter { $0 != "-" && $0 != "--" }
    self = .shell(Shell(prefix: [program] + usual + own + ["-c"]))
  }

  /// Whether all words are options that leave the script to the last argument, such as `-eu -o pipefail`.
  private static func areOptions(_ words: ArraySlice<String>) -> Bool {
    var mayBeName = false
    for word in words {
      guard word.hasPrefix("-") || mayBeName else { return false }
      let isCluster = word.hasPrefix("-") && !word.hasPrefix("--")
      if isCluster, word.contains("c") { return false }
      mayBeName = isCluster && word.hasSuffix("o")
    }
    return !mayBeName
  }
}
