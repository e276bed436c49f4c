import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftJSON
import WeftPlanning

/// Hover: help for keys, declarations of names, and what a step waits for.
extension WorkflowText {
  func hover(at offset: Int) -> JSONValue {
    if let name = name(at: offset), let text = about(name) { return hover(text, name.range) }
    guard let root else { return .null }
    let cursor = TextCursor(root, at: offset)
    switch cursor.target {
    case .key(let member):
      guard let object = cursor.containers.last, let text = help(for: member, in: object, cursor)
      else { return .null }
      let range = member.key.range
      return hover(text, Int(range.start)..<Int(range.end))
    case .value(let node):
      if let (function, range) = function(at: offset, in: node) {
        return hover("```\n\(function.signature)\n```", range)
      }
      return value(at: offset, in: node, cursor).map { hover($0, $1) } ?? .null
    case .between: return .null
    }
  }

  private func hover(_ text: String, _ range: Range<Int>) -> JSONValue {
    [
      "contents": ["kind": "markdown", "value": .string(text)], "range": document.range(range),
    ]
  }

  // MARK: Keys

  private func help(
    for member: JSONMember, in object: JSONNode, _ cursor: TextCursor
  ) -> String? {
    let schemas = guide.schemas(at: cursor.path, cursor.containers)
    let name = member.key.stringValue ?? ""
    guard let key = guide.keys(of: object, schemas).first(where: { $0.name == name }) else {
      return nil
    }
    return key.text(guide)
  }

  // MARK: Names

  private func about(_ name: WorkflowOutline.Reference) -> String? {
    guard let declaration = outline?.declaration(of: name.name, name.kind) else { return nil }
    switch name.kind {
    case .step: return aboutStep(declaration)
    case .input: return about(declaration, "Input")
    case .state: return about(declaration, "State")
    case .secret: return about(declaration, "Secret")
    case .pool: return about(declaration, "Pool")
    case .runner: return about(declaration, "Runner")
    }
  }

  private func about(_ declaration: WorkflowOutline.Declaration, _ noun: String) -> String {
    var lines = ["**\(noun) `\(declaration.name)`**"]
    if let text = declaration.node.member("description")?.stringValue { lines.append(text) }
    if [.pool, .runner].contains(declaration.kind) {
      lines.append("```\n\(String(declaration.node.sourceText.prefix(200)))\n```")
    }
    if let type = declaration.node.member("type") { lines.append("Type: `\(type.sourceText)`") }
    if let values = declaration.node.member("enum") {
      lines.append("One of: `\(values.sourceText)`")
    }
    if let value = declaration.node.member("default") {
      lines.append("Default: `\(value.sourceText)`")
    } else if declaration.kind == .input {
      lines.append("Required.")
    }
    return lines.joined(separator: "\n\n")
  }

  private func aboutStep(_ declaration: WorkflowOutline.Declaration) -> String {
    let node = declaration.node
    let isGroup = ["steps", "parallel", "race"].contains { node.member(named: $0) != nil }
    var lines = ["**\(isGroup ? "Group" : "Step") `\(declaration.name)`**"]
    if let text = (node.member("description") ?? node.member("name"))?.stringValue {
      lines.append(text)
    }
    if let action = node.member("run") ?? node.member("script") ?? node.member("workflow") {
      lines.append("```\n\(String(action.sourceText.prefix(200)))\n```")
    }
    if let waits = waits(of: declaration.name) {
      lines.append(waits.isEmpty ? "Waits for nothing." : "Waits for \(waits).")
    }
    return lines.joined(separator: "\n\n")
  }

  /// The steps and groups that a step waits for, as the plan has them; `nil` if there is no plan.
  private func waits(of name: String) -> String? {
    guard let plan, let node = plan.node(ofID: name) else { return nil }
    return plan.dependencies[node].compactMap { dependency -> String? in
      if case .groupStart(let group) = plan.nodes[Int(dependency)],
        plan.groups[Int(group)].address == nil
      {
        return nil
      }
      let address = plan.address(of: Int(dependency)).text
      if case .groupStart = plan.nodes[Int(dependency)] { return "the start of `\(address)`" }
      return "`\(address)`"
    }.joined(separator: ", ")
  }

  /// The value of the expression at an offset, if it reads nothing but defaults of inputs, and the range of the text.
  private func value(
    at offset: Int, in node: JSONNode, _ cursor: TextCursor
  ) -> (String, Range<Int>)? {
    guard let root, let text = node.stringValue else { return nil }
    let isCondition = guide.conditionKeys.contains { cursor.path.last == .key($0) }
    let template = isCondition ? Template.parse(condition: text) : Template.parse(text)
    let defaults = root.member("inputs")?.members.compactMap { input -> (String, JSONNode)? in
      guard let name = input.key.stringValue, let value = input.value.member("default"),
        input.value.member("secret")?.boolValue != true
      else { return nil }
      return (name, value)
    }
    guard let defaults else { return nil }
    guard
      let expression = template.expressions.first(where: {
        node.sourceOffset(ofUTF8: Int($0.root.range.start)) <= offset
          && offset <= node.sourceOffset(ofUTF8: Int($0.root.range.end))
      }), !expression.references.isEmpty,
      expression.references.allSatisfy({ reference in
        reference.isOfContext("inputs") && reference.names.count > 1
          && defaults.contains { $0.0 == reference.names[1].text }
      })
    else { return nil }
    let inputs = ExpressionValue.object(
      defaults.map { ($0.0, ExpressionValue(JSONValue($0.1))) })
    guard
      let value = try? expression.evaluate(
        in: ValueScope(ExpressionObject([.init(key: "inputs", value: inputs)]))
      ).value
    else {
      return nil
    }
    let shown = String(value.json.description.prefix(200))
    return (
      "With the defaults of its inputs: `\(shown)`",
      Int(node.range.start)..<Int(node.range.end)
    )
  }

  /// The function whose name is at an offset of an expression.
  private func function(
    at offset: Int, in node: JSONNode
  ) -> (ExpressionFunction, Range<Int>)? {
    guard node.kind == .string else { return nil }
    let bytes = document.source.bytes
    let isName = { (byte: UInt8) in
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
    var (start, end) = (offset, offset)
    while start > 0, isName(bytes[start - 1]) { start -= 1 }
    while end < bytes.count, isName(bytes[end]) { end += 1 }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "("),
      let function = ExpressionFunction(named: String(decoding: bytes[start..<end], as: UTF8.self))
    else { return nil }
    return (function, start..<end)
  }
}

extension SchemaGuide.Key {
  /// The help of the key, as Markdown.
  func text(_ guide: SchemaGuide) -> String? {
    var lines: [String] = []
    if let title { lines.append("**\(title)**") }
    if let help { lines.append(help) }
    let values = guide.values(schemas)
    if !values.isEmpty {
      lines.append("Values: " + values.map { "`\($0.description)`" }.joined(separator: ", "))
    }
    return lines.isEmpty ? nil : lines.joined(separator: "\n\n")
  }
}

extension Plan {
  /// The node of the step, or the start of the group, that has this id in the workflow itself.
  func node(ofID id: String) -> Plan.NodeIndex? {
    nodes.indices.first { node in
      switch nodes[node] {
      case .groupEnd: false
      case .step(let index):
        steps[Int(index)].step.id?.text == id && groups[steps[Int(index)].group].file == 0
      case .groupStart(let index):
        groups[Int(index)].step?.id?.text == id && groups[Int(index)].file == 0
      }
    }
  }
}
