import WeftDiagnostics
import WeftJSON

/// `secrets`: names for expressions, and the sources of their values.
extension DecodingPass {
  mutating func secrets(_ node: JSONNode) -> [SecretDeclaration] {
    guard node.kind == .object else {
      reportType(
        of: node, Field("secrets"), wanted: "an object of names and sources",
        help: DecodingPass.secretExample)
      return []
    }
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
      guard let declaration = secret(name, member) else {
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

  private static let secretExample = "write { \"TOKEN\": { \"env\": \"RELEASE_TOKEN\" } }"

  private mutating func secretName(_ key: JSONNode) -> SecretName? {
    let text = key.stringValue ?? ""
    if let name = SecretName(text) { return name }
    report(.invalidSecretName(text, fault: StepID.fault(in: text)), at: key)
    return nil
  }

  private mutating func secret(_ name: SecretName, _ member: JSONMember) -> SecretDeclaration? {
    let node = member.value
    let field = Field("secrets", member: member.key)
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: SecretKey.wanted,
        help: node.stringValue.map { "write { \"env\": \(quoted($0)) }" }
          ?? "write { \"env\": \"NAME\" }")
      return nil
    }
    var draft = SecretDraft()
    for inner in node.members {
      guard let key: SecretKey = key(of: inner, in: .secret) else {
        draft.hasUnknownKey = draft.hasUnknownKey || !isIgnored(inner.key)
        continue
      }
      take(key, inner, field, into: &draft)
    }
    guard let source = source(of: draft, field, at: node) else { return nil }
    return SecretDeclaration(
      name, from: source, description: draft.description, place: member.key.range)
  }

  private mutating func take(
    _ key: SecretKey, _ member: JSONMember, _ field: Field, into draft: inout SecretDraft
  ) {
    let value = member.value
    if key.isSource { draft.keys.append(member.key) }
    switch key {
    case .env:
      guard
        let name = filledText(value, field.part("env"), wanted: "the name of a variable")
      else { return }
      if name.utf8.contains(UInt8(ascii: "=")) {
        return report(.invalidVariableName(name), at: value)
      }
      draft.source = .environment(name)
    case .file:
      draft.source = filledText(value, field.part("file"), wanted: "the path of a file").map(
        SecretSource.file)
    case .command:
      guard value.kind == .array else {
        return reportType(
          of: value, field.part("command"), wanted: "an array of a program and its arguments",
          help: "it is started without a shell; with one it is [\"sh\", \"-c\", \"…\"]")
      }
      draft.command = arguments(value, field.part("command"))
    case .descriptor:
      draft.source = integer(value, field.part("descriptor"), in: ValueRule.descriptors).map {
        SecretSource.descriptor(Int32($0))
      }
    case .timeout:
      draft.timeoutKey = member.key
      draft.timeout = duration(value, field.part("timeout"))
    case .description: draft.description = text(value, field.part("description"))
    }
  }

  /// The source that was given; `nil` if there is no usable one.
  private mutating func source(
    of draft: SecretDraft, _ field: Field, at node: JSONNode
  ) -> SecretSource? {
    guard let first = draft.keys.first else {
      if !draft.hasUnknownKey {
        report(
          .wrongType(
            path: path(field), found: "an object without a source", wanted: SecretKey.wanted,
            help: nil), at: node)
      }
      return nil
    }
    if draft.keys.count > 1 {
      report(
        .severalSources(first.stringValue ?? "", draft.keys[1].stringValue ?? ""),
        at: draft.keys[1], related: ("\"\(first.stringValue ?? "")\" is here", first))
      return nil
    }
    if let key = draft.timeoutKey, SecretKey(rawValue: first.stringValue ?? "") != .command {
      report(.timeoutOfSecret, at: key)
    }
    return draft.command.map { .command($0, timeout: draft.timeout) } ?? draft.source
  }
}

/// A secret while its keys are read.
private struct SecretDraft {
  /// The keys that name a source.
  var keys: [JSONNode] = []
  var hasUnknownKey = false
  var source: SecretSource?
  var command: [String]?
  var timeout: Duration?
  var timeoutKey: JSONNode?
  var description: String?
}

extension SecretKey {
  fileprivate static let wanted =
    "{ \"env\": … }, { \"file\": … }, { \"command\": … } or { \"descriptor\": … }"

  fileprivate var isSource: Bool {
    switch self {
    case .env, .file, .command, .descriptor: true
    case .timeout, .description: false
    }
  }
}
