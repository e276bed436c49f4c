import WeftDiagnostics
import WeftJSON

/// `env`, `cwd` and `shell`, which are alike at every level.
extension DecodingPass {
  mutating func environment(_ node: JSONNode) -> [String: String?] {
    guard node.kind == .object else {
      reportType(
        of: node, Field("env"), wanted: "an object of names and values",
        help: "write { \"NAME\": \"value\" }")
      return [:]
    }
    var variables: [String: String?] = [:]
    for member in node.members {
      guard let name = variableName(member.key), let value = variable(name, member) else {
        continue
      }
      variables.updateValue(value, forKey: name)
    }
    return variables
  }

  private mutating func variableName(_ key: JSONNode) -> String? {
    let name = key.stringValue ?? ""
    if name.hasExpression {
      report(.expression(path: path(Field("env"))), at: key)
      return nil
    }
    guard let problem = ValueRule.problem(withVariable: name) else { return name }
    report(problem, at: key)
    return nil
  }

  /// A variable's value, or an inner `nil` to remove it; the outer `nil` means that the value is invalid.
  private mutating func variable(_ name: String, _ member: JSONMember) -> String?? {
    let node = member.value
    switch node.kind {
    case .null: return .some(nil)
    case .number, .bool: return node.sourceText
    case .string:
      return text(node, Field("env", member: member.key), at: .variable(name)).map { $0 }
    case .array, .object, .unreadable:
      reportType(
        of: node, Field("env", member: member.key),
        wanted: "a string, a number, true, false, or null to remove the variable")
      return nil
    }
  }

  mutating func environmentPolicy(_ node: JSONNode) -> EnvironmentPolicy? {
    let field = Field("envPolicy")
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "\"inherit\" or \"clean\"")
      return nil
    }
    guard let word = text(node, field) else { return nil }
    if let policy = EnvironmentPolicy(rawValue: word) { return policy }
    report(
      .unknownWord(
        path: path(field), word: word, wanted: "\"inherit\" or \"clean\"",
        nearest: NearestName(EnvironmentPolicy.allCases.map(\.rawValue)).nearest(to: word),
        help: "\"clean\" leaves steps only the variables that programs cannot do without"),
      at: node)
    return nil
  }

  mutating func workingDirectory(_ node: JSONNode) -> String? {
    filledText(
      node, Field("cwd"), at: .workingDirectory, wanted: "the path of a directory")
  }

  mutating func shell(_ node: JSONNode, _ field: Field = Field("shell")) -> Shell? {
    switch node.kind {
    case .array: return arguments(node, field).map(Shell.init(prefix:))
    case .string: return namedShell(node, field)
    default:
      reportType(
        of: node, field, wanted: "\"sh\", \"bash\", \"python\" or a command line",
        help: "a command line is an array, such as [\"zsh\", \"-e\", \"-c\"]")
      return nil
    }
  }

  private mutating func namedShell(_ node: JSONNode, _ field: Field) -> Shell? {
    guard let word = text(node, field) else { return nil }
    if let known = Shell.named.first(where: { $0.name == word }) { return known.shell }
    report(
      .unknownWord(
        path: path(field), word: word, wanted: "\"sh\", \"bash\" or \"python\"",
        nearest: NearestName(Shell.named.map(\.name)).nearest(to: word),
        help: "another shell is given as a command line, such as [\"zsh\", \"-e\", \"-c\"]"),
      at: node)
    return nil
  }
}
