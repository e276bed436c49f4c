import WeftDiagnostics
import WeftJSON

/// `forEach`: runs a step for each element of a list.
extension DecodingPass {
  mutating func forEach(_ node: JSONNode) -> ForEach? {
    let field = Field("forEach")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"in\"",
        help: node.kind == .array ? "write { \"in\": [ … ] }" : "write { \"in\": [\"a\", \"b\"] }")
      return nil
    }
    var loop = ForEach(in: .values(.array([])))
    var isMissing = true
    var isWhole = true
    for member in node.members {
      guard let key: ForEachKey = key(of: member, in: .forEach) else {
        isMissing = isMissing && isIgnored(member.key)
        continue
      }
      let value = member.value
      switch key {
      case .in:
        isMissing = false
        let elements = elements(value, field.part("in"))
        isWhole = elements != nil
        loop.elements = elements ?? loop.elements
      case .as: loop.name = elementName(value, field.part("as"))
      case .key: loop.key = elementKey(value, field.part("key"))
      case .maxParallel:
        loop.maxParallel = integer(
          value, field.part("maxParallel"), in: ValueRule.maxParallel,
          as: .elementParallel)
      case .tolerate: loop.tolerance = tolerated(value, field.part("tolerate")) ?? loop.tolerance
      }
    }
    if isMissing {
      report(
        .control(
          .missingKey(path: path(field), key: "in", example: "{ \"in\": [\"a\", \"b\"] }")),
        at: node)
    }
    return isMissing || !isWhole ? nil : loop
  }

  private mutating func elements(_ node: JSONNode, _ field: Field) -> Listing? {
    let wanted = "an array, an object, or one expression"
    switch node.kind {
    case .array: return written(node, field, count: node.elements.count)
    case .object: return written(node, field, count: node.members.count)
    case .string:
      if let text = wholeExpression(node, at: .elements) { return .computed(text) }
      let text = node.stringValue ?? ""
      report(
        .control(.noExpression(path: path(field), text: text, wanted: wanted)), at: node)
      return nil
    default:
      reportType(
        of: node, field, wanted: wanted,
        help: node.kind == .number ? "numbers to count with are written out: [1, 2, 3]" : nil)
      return nil
    }
  }

  /// A literal value; expressions inside it are reported.
  mutating func written(_ node: JSONNode, _ field: Field, count: Int) -> Listing? {
    if let inner = node.firstExpression {
      report(.control(.expressionInside(path: path(field))), at: inner)
      return nil
    }
    guard count <= WorkflowLimits.elements else {
      report(.control(.tooManyElements(path: path(field), count: "\(count)")), at: node)
      return nil
    }
    return .values(JSONValue(node))
  }

  private mutating func elementName(_ node: JSONNode, _ field: Field) -> String? {
    guard let name = filledText(node, field, wanted: "a name for the element") else { return nil }
    guard let problem = ValueRule.problem(withElementName: name) else { return name }
    report(problem, at: node)
    return nil
  }

  private mutating func elementKey(_ node: JSONNode, _ field: Field) -> Condition? {
    guard let text = node.stringValue else {
      reportType(
        of: node, field, wanted: "an expression that names the element",
        help: "write an expression such as \"item.name\"")
      return nil
    }
    return bareExpression(text, node, field, at: .elementKey, wanted: "an expression")
  }

  private mutating func tolerated(_ node: JSONNode, _ field: Field) -> FanOutTolerance? {
    guard node.kind == .string else {
      return integer(node, field, in: ValueRule.toleratedElements).map(FanOutTolerance.count)
    }
    guard let text = text(node, field) else { return nil }
    if let tolerance = FanOutTolerance(percentage: text) { return tolerance }
    report(.control(.invalidTolerance(path: path(field), text: text)), at: node)
    return nil
  }
}

extension ForEach {
  /// Names with another meaning in expressions, in lower case.
  static let takenNames: Set<String> = [
    "inputs", "env", "secrets", "steps", "self", "item", "index", "matrix", "run", "workflow",
    "true", "false", "null", "nan", "infinity",
  ]
}
