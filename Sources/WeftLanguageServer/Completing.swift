import WeftDefinition
import WeftDiagnostics
import WeftEncoding
import WeftExpressions
import WeftJSON
import WeftPlanning

/// Completion: the keys, literal values, ids, and the names in expressions that can be written at an offset.
extension WorkflowText {
  /// The kinds of `CompletionItem` that are used.
  private enum Kind: Int {
    case function = 3
    case variable = 6
    case property = 10
    case value = 12
  }

  func completions(at offset: Int) -> JSONValue {
    guard let root else { return [] }
    let cursor = TextCursor(root, at: offset)
    if case .value(let node) = cursor.target, node.kind == .string,
      let name = nameInExpression(before: offset, in: node)
    {
      return .array(completions(of: name, ending: offset))
    }
    if let key = cursor.keyAwaitingValue(at: offset), let object = cursor.containers.last {
      let path = cursor.path + [.key(key.key.stringValue ?? "")]
      return values(path, cursor.containers + [object], replacing: offset..<offset)
    }
    switch cursor.target {
    case .key(let member): return keys(cursor, replacing: member.key.range, isWritten: true)
    case .value(let node):
      return values(
        cursor.path, cursor.containers, replacing: Int(node.range.start)..<Int(node.range.end))
    case .between(let node) where node.kind == .object:
      return keys(cursor, replacing: SourceRange(start: offset, end: offset), isWritten: false)
    case .between:
      return values(cursor.path + [.element(0)], cursor.containers, replacing: offset..<offset)
    }
  }

  // MARK: Keys and values

  private func keys(
    _ cursor: TextCursor, replacing range: SourceRange, isWritten: Bool
  ) -> JSONValue {
    guard let object = cursor.containers.last else { return [] }
    let present = Set(
      object.members.compactMap { $0.key.range == range ? nil : $0.key.stringValue })
    if let kind = guide.namingKeys.kinds[NamingKeys.Place(cursor.path)] {
      return .array(
        declared(kind).filter { !present.contains($0.name) }.map { declaration in
          let name = JSONValue.string(declaration.name).description
          return item(
            declaration.name, .variable, nil, nil, text: isWritten ? name : "\(name): 1",
            replacing: Int(range.start)..<Int(range.end), filter: isWritten ? name : nil)
        })
    }
    let keys = guide.keys(of: object, guide.schemas(at: cursor.path, cursor.containers))
    return .array(
      keys.filter { !present.contains($0.name) }.map { key in
        let name = JSONValue.string(key.name).description
        return item(
          key.name, .property, key.title, key.text(guide),
          text: isWritten ? name : "\(name): \(placeholder(key))",
          replacing: Int(range.start)..<Int(range.end),
          filter: isWritten ? name : nil)
      })
  }

  private func declared(_ kind: WorkflowOutline.Kind) -> [WorkflowOutline.Declaration] {
    outline?.declarations.filter { $0.kind == kind } ?? []
  }

  /// The declared names that can be written at an offset.
  private func nameable(
    _ kind: WorkflowOutline.Kind, at offset: Int
  ) -> [WorkflowOutline.Declaration] {
    let all = declared(kind)
    guard kind == .step, let root, let outline else { return all }
    let may = NameableSteps(root, outline).may(name: all.map(\.name), at: offset)
    return zip(all, may).filter(\.1).map(\.0)
  }

  /// An empty value of a new key, so that the text stays JSON.
  private func placeholder(_ key: SchemaGuide.Key) -> String {
    switch guide.types(key.schemas).first {
    case "string": "\"\""
    case "array": "[]"
    case "object": "{}"
    case "boolean": "true"
    default: ""
    }
  }

  private func values(
    _ path: [TextCursor.PathStep], _ containers: [JSONNode], replacing range: Range<Int>
  ) -> JSONValue {
    if let kind = guide.namingKeys.kinds[NamingKeys.Place(path)] {
      let listed =
        containers.last?.elements.filter { Int($0.range.start) != range.lowerBound } ?? []
      let others = Set(listed.compactMap(\.stringValue))
      return .array(
        nameable(kind, at: range.lowerBound).filter { !others.contains($0.name) }.map {
          declaration in
          let name = JSONValue.string(declaration.name).description
          return item(
            declaration.name, .variable, declaration.node.member("description")?.stringValue, nil,
            text: name, replacing: range, filter: name)
        })
    }
    return .array(
      guide.values(guide.schemas(at: path, containers)).map { value in
        item(
          value.text ?? value.description, .value, nil, nil, text: value.description,
          replacing: range, filter: value.description)
      })
  }

  // MARK: Expressions

  /// The name that is being written in an expression, with the names before it: `["steps", "build", "out"]`.
  private func nameInExpression(before offset: Int, in node: JSONNode) -> [String]? {
    let start = Int(node.range.start) + 1
    guard offset >= start else { return nil }
    let text = String(decoding: document.source.bytes[start..<offset], as: UTF8.self)
    let opening = text.ranges(of: "${{").last
    let key = TextCursor(node.document.root, at: offset).path.last
    let isCondition = guide.conditionKeys.contains { key == .key($0) }
    guard isCondition || opening != nil else { return nil }
    let expression = opening.map { text[$0.upperBound...] } ?? text[...]
    guard !expression.contains("}}") else { return nil }
    let name = String(
      expression.reversed().prefix { $0.isLetter || $0.isNumber || "_-.".contains($0) }.reversed())
    return name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
  }

  private func completions(of names: [String], ending offset: Int) -> [JSONValue] {
    let last = names.last ?? ""
    let range = offset - last.utf8.count..<offset
    func items(_ names: [String], _ kind: Kind = .variable) -> [JSONValue] {
      names.map { item($0, kind, nil, nil, text: $0, replacing: range) }
    }
    switch names.dropLast().map({ $0 }) {
    case []:
      return items(ValueContext.allCases.map(\.rawValue))
        + ExpressionFunction.allCases.map { function in
          item(
            function.rawValue, .function, function.signature, nil, text: "\(function.rawValue)(",
            replacing: range)
        }
    case ["inputs"]: return items(declared(.input).map(\.name))
    case ["state"]: return items(declared(.state).map(\.name))
    case ["secrets"]: return items(declared(.secret).map(\.name))
    case ["steps"]: return items(nameable(.step, at: offset).map(\.name))
    case ["run"]: return items(RunField.allCases.map(\.rawValue))
    case ["workflow"]: return items(WorkflowField.allCases.map(\.rawValue))
    case let path where path.count == 2 && path[0] == "steps":
      return items(fields(ofStep: path[1]), .property)
    case let path where path.count == 3 && path[0] == "steps" && path[2] == "outputs":
      let step = outline?.declaration(of: path[1], .step)?.node
      return items(step?.member("outputs")?.members.compactMap(\.key.stringValue) ?? [], .property)
    default: return []
    }
  }

  /// The parts of a step's result; all that there are if the text has no plan.
  private func fields(ofStep id: String) -> [String] {
    guard let plan, let node = plan.node(ofID: id) else {
      return StepField.allCases.map(\.rawValue)
    }
    return plan.resultShape(ofNode: node).fields.map(\.rawValue)
  }

  private func item(
    _ label: String, _ kind: Kind, _ detail: String?, _ help: String?, text: String,
    replacing range: Range<Int>, filter: String? = nil
  ) -> JSONValue {
    var item: JSONObject = [
      "label": .string(label), "kind": .int(kind.rawValue),
      "textEdit": ["range": document.range(range), "newText": .string(text)],
    ]
    if let detail { item["detail"] = .string(detail) }
    if let help { item["documentation"] = ["kind": "markdown", "value": .string(help)] }
    if let filter { item["filterText"] = .string(filter) }
    return .object(item)
  }
}
