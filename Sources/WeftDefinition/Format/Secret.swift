public import WeftDiagnostics
import WeftJSON

/// A secret that a workflow uses: its name in expressions, and the source of its value.
public struct SecretDeclaration: Sendable, Hashable {
  public var name: SecretName
  public var source: SecretSource
  public var description: String?
  /// Its name in the file, with quotes.
  public var place: Written<SourceRange?>

  public init(
    _ name: SecretName, from source: SecretSource, description: String? = nil,
    place: SourceRange? = nil
  ) {
    self.name = name
    self.source = source
    self.description = description
    self.place = Written(place)
  }
}

/// The source of a secret's value. It is read when a run starts and never before: not to check a file, nor
/// to print its graph.
public enum SecretSource: Sendable, Hashable {
  /// A variable of the engine's environment. Programs of a run do not inherit it.
  case environment(String)
  /// A file, relative to the start directory.
  case file(String)
  /// The output of a program: never an empty command, started directly without a shell, in the start
  /// directory. Without a timeout it may take ``WorkflowLimits/secretCommandTimeout``.
  case command([String], timeout: Duration? = nil)
  /// An open descriptor of the engine, above 2. It is read to its end and closed.
  case descriptor(Int32)
  /// A variable of an env file, whose path is relative to the start directory. Steps that have the file as an
  /// ``EnvironmentFile`` do not get the variable.
  case environmentFile(String, name: String)
}

/// The name of a secret in expressions: `[A-Za-z_][A-Za-z0-9_-]{0,254}`, not beginning with `WEFT_`.
///
/// Names are case-insensitive, as they are in expressions.
public struct SecretName: Sendable {
  /// The original spelling.
  public let text: String

  /// `nil` if `text` is not a valid name.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8), !SecretName.isReserved(text) else { return nil }
    self.text = text
  }

  /// Whether Weft reserves the name, as it does for variables with this prefix.
  static func isReserved(_ text: String) -> Bool { folded(text).hasPrefix("WEFT_") }

  private static func folded(_ text: String) -> String { text.uppercased() }
}

extension SecretName: Hashable {
  public static func == (left: SecretName, right: SecretName) -> Bool {
    folded(left.text) == folded(right.text)
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(SecretName.folded(text)) }
}

extension SecretName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a valid name.
  public init(stringLiteral text: String) {
    guard let name = SecretName(text) else {
      preconditionFailure("\"\(text)\" is not the name of a secret: [A-Za-z_][A-Za-z0-9_-]{0,254}")
    }
    self = name
  }
}

extension SecretName: CustomStringConvertible {
  public var description: String { text }
}

/// A secret while its keys are read.
struct SecretDraft: FormatObject {
  /// The keys that name a source.
  var keys: [JSONNode] = []
  var source: SecretSource?
  var command: [String]?
  var timeout: Duration?
  var timeoutKey: JSONNode?
  var environmentFile: String?
  var variable: String?
  var variableKey: JSONNode?
  var description: String?

  static let wanted =
    "{ \"env\": … }, { \"file\": … }, { \"envFile\": …, \"name\": … }, { \"command\": … } "
    + "or { \"descriptor\": … }"

  static let schema: StaticString = #"""
    {"oneOf": [{"required": ["env"]}, {"required": ["file"]}, {"required": ["command"]},
    {"required": ["descriptor"]}, {"required": ["envFile"]}],
    "dependentRequired": {"timeout": ["command"], "envFile": ["name"], "name": ["envFile"]}}
    """#

  static let format = ObjectFormat<SecretDraft>("a secret") {
    FormatKey(
      "env", ValueFormat { $0.sourceVariable($1, $2) }, "Variable",
      """
      The value of this variable of weft's environment. Steps do not get the variable \
      itself.
      """, schema: #""@variableName""#,
      synonyms: "environment variables", traits: .source
    ) { $0.source = .environment($1) }
    FormatKey(
      "file", .plainText("the path of a file"), "File",
      """
      The content of this file, without one newline at its end; relative to the start \
      directory.
      """,
      synonyms: "path", traits: .source
    ) { $0.source = .file($1) }
    FormatKey(
      "envFile", .plainText("the path of an env file"), "Env file",
      """
      A file with lines NAME=VALUE, relative to the start directory; name says which \
      variable. Steps with the file as envFile do not get that variable itself.
      """, schema: #"{"examples": [".env"]}"#,
      synonyms: "env_file dotenv", traits: .source, at: \.environmentFile)
    FormatKey(
      "name", "Name", "The name of the variable in envFile.",
      schema: #""@variableName""#, synonyms: "key variable"
    ) { pass, member, field, draft in
      draft.variableKey = member.key
      draft.variable = pass.sourceVariable(member.value, field)
    }
    FormatKey(
      "command", ValueFormat { $0.sourceCommand($1, $2) }, "Command",
      """
      The output of this program, without one newline at its end: the program and its \
      arguments, started without a shell.
      """, schema: #""@words""#,
      synonyms: "argv", traits: .source, at: \.command)
    FormatKey(
      "descriptor", .integer(ValueRule.descriptors), "Descriptor",
      """
      The content of this descriptor, which is open when weft starts, without one newline \
      at its end; it is closed then.
      """, schema: #"{"examples": [3]}"#, synonyms: "fd",
      traits: .source
    ) { $0.source = .descriptor(Int32($1)) }
    FormatKey(
      "timeout", "Time limit",
      "The time limit of the program.", schema: #"{"$ref": "duration", "default": "30s"}"#
    ) { pass, member, field, draft in
      draft.timeoutKey = member.key
      draft.timeout = pass.duration(member.value, field)
    }
    FormatKey(
      "description", .plainText(), "Description",
      "The purpose; any text.", at: \.description)
  }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    if key.traits.contains(.source) { keys.append(node) }
    return true
  }
}

extension KeyTraits {
  /// Names the source of a secret; only one key may.
  fileprivate static let source = KeyTraits(rawValue: 64)
}

/// `secrets`: names for expressions, and the sources of their values.
extension DecodingPass {
  mutating func secrets(_ node: JSONNode, _ field: Field) -> [SecretDeclaration]? {
    guard
      isObject(
        node, field, wanted: "an object of names and sources",
        help: "write { \"TOKEN\": { \"env\": \"RELEASE_TOKEN\" } }")
    else { return nil }
    var declarations: [SecretDeclaration] = []
    var names: [SecretName: JSONNode] = [:]
    var descriptors: [Int32: JSONNode] = [:]
    for member in node.members {
      guard let name = secretName(member.key) else { continue }
      if let first = names.updateValue(member.key, forKey: name) {
        report(
          .equalNames(name.text, first: first.stringValue ?? ""), at: member.key,
          related: ("the first is here", first))
        continue
      }
      guard let declaration = secret(name, member, field.member(member.key)) else {
        // The problem is reported. The name is kept, because a missing secret would only follow
        // from it.
        let source = SecretSource.environment(name.text)
        declarations.append(SecretDeclaration(name, from: source, place: member.key.range))
        continue
      }
      declarations.append(declaration)
      guard case .descriptor(let number) = declaration.source else { continue }
      if let first = descriptors.updateValue(member.key, forKey: number) {
        report(
          .sharedDescriptor(number), at: member.key, related: ("the other is here", first))
      }
    }
    return declarations
  }

  private mutating func secretName(_ key: JSONNode) -> SecretName? {
    let text = key.stringValue ?? ""
    if let name = SecretName(text) { return name }
    let fault = StepID.fault(in: text)
    report(fault.map { Diagnostic.invalidName(text, fault: $0) } ?? .reservedName(text), at: key)
    return nil
  }

  private mutating func secret(
    _ name: SecretName, _ member: JSONMember, _ field: Field
  ) -> SecretDeclaration? {
    let node = member.value
    guard
      isObject(
        node, field, wanted: SecretDraft.wanted,
        help: node.stringValue.map { "write { \"env\": \(quoted($0)) }" }
          ?? "write { \"env\": \"NAME\" }")
    else { return nil }
    var draft = SecretDraft()
    let reading = read(node, field, into: &draft)
    if draft.keys.isEmpty, !reading.hasUnknownKey {
      report(
        .wrongType(
          path: path(field), found: "an object without a source", wanted: SecretDraft.wanted,
          help: nil), at: node)
    }
    return source(of: draft).map {
      SecretDeclaration(
        name, from: $0, description: draft.description, place: member.key.range)
    }
  }

  /// The source that was given; `nil` if there is no usable one.
  private mutating func source(of draft: SecretDraft) -> SecretSource? {
    guard let first = draft.keys.first, let name = first.stringValue else { return nil }
    if draft.keys.count > 1 {
      report(
        .severalSources(name, draft.keys[1].stringValue ?? ""), at: draft.keys[1],
        related: ("\"\(name)\" is here", first))
      return nil
    }
    if let key = draft.timeoutKey, name != "command" { report(.timeoutOfSecret, at: key) }
    if name == "envFile" {
      guard let path = draft.environmentFile else { return nil }
      if draft.variableKey == nil { report(.missingVariableOfSecret, at: first) }
      return draft.variable.map { .environmentFile(path, name: $0) }
    }
    if let key = draft.variableKey { report(.variableOfSecret, at: key) }
    return draft.command.map { .command($0, timeout: draft.timeout) } ?? draft.source
  }

  fileprivate mutating func sourceVariable(_ node: JSONNode, _ field: Field) -> String? {
    guard let name = filledText(node, field, wanted: "the name of a variable") else { return nil }
    guard let problem = ValueRule.problem(withVariable: name) else { return name }
    report(problem, at: node)
    return nil
  }

  fileprivate mutating func sourceCommand(_ node: JSONNode, _ field: Field) -> [String]? {
    guard node.kind == .array else {
      reportType(
        of: node, field, wanted: "an array of a program and its arguments",
        help: "it runs without a shell; to use one, write [\"sh\", \"-c\", \"…\"]")
      return nil
    }
    return arguments(node, field)
  }
}

extension Diagnostic {
  static func severalSources(_ first: String, _ second: String) -> Diagnostic {
    Diagnostic(
      .severalActions,
      "the secret has both \"\(first)\" and \"\(second)\", expected one source",
      help: "keep one of them")
  }

  static func sharedDescriptor(_ number: Int32) -> Diagnostic {
    Diagnostic(
      .equalNames, "descriptor \(number) is the source of two secrets, but can only be read once",
      help: "use one secret in both places, or open another descriptor")
  }

  static var timeoutOfSecret: Diagnostic {
    Diagnostic(
      .misplacedKey, "\"timeout\" is only for secrets with \"command\", but this one has none",
      help: "remove it")
  }

  static var variableOfSecret: Diagnostic {
    Diagnostic(
      .misplacedKey, "\"name\" is only for secrets with \"envFile\", but this one has none",
      help: "remove it")
  }

  static var missingVariableOfSecret: Diagnostic {
    Diagnostic(
      .missingKey, "\"envFile\" has no \"name\", expected the name of a variable in the file",
      help: "write \"name\": \"TOKEN\" next to it")
  }

  /// A name that only Weft's own variables have.
  static func reservedName(_ text: String) -> Diagnostic {
    Diagnostic(
      .invalidID, "the name \(quoted(text)) begins with \"WEFT_\", which is reserved",
      help: "rename the secret; its source can have any name")
  }
}
