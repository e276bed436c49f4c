import WeftDiagnostics
import WeftJSON

/// `forEach`: runs a step for each element of a list.
struct ForEachDraft: FormatObject {
  var loop = ForEach(in: .values(.array([])))
  var hasElements = true

  static let format = ObjectFormat<ForEachDraft>("\"forEach\"") {
    FormatKey(
      "in", "Elements",
      "An array, an object, or one expression that evaluates to one.",
      schema: #"""
        {"anyOf": [{"type": "array", "items": "@literal", "maxItems": 1000000},
        {"type": "object", "additionalProperties": "@literal"}, "@expression"]}
        """#,
      synonyms: "items list of values over elements",
      required: "{ \"in\": [\"a\", \"b\"] }"
    ) { pass, member, field, draft in
      let elements = pass.elements(member.value, field)
      draft.hasElements = elements != nil
      draft.loop.elements = elements ?? draft.loop.elements
    }
    FormatKey(
      "as", ValueFormat { $0.elementName($1, $2) }, "Name",
      "The name of the element in expressions, besides item.", schema: #""@elementName""#,
      synonyms: "var item name variable loop_var"
    ) { $0.loop.name = $1 }
    FormatKey(
      "key", ValueFormat { $0.elementKey($1, $2) }, "Key",
      "An expression that names an element; without it, its index, or its key in an object.",
      schema: #"{"$ref": "filledText", "examples": ["item.name"]}"#,
      synonyms: "group"
    ) { $0.loop.key = $1 }
    FormatKey(
      "maxParallel", .integer(as: .elementParallel), "Parallelism",
      "The maximum number of elements that are in flight at once.", schema: #"{"examples": [4]}"#,
      synonyms: "concurrency max-parallel max_parallel parallelism", at: \.loop.maxParallel)
    FormatKey(
      "tolerate", ValueFormat { $0.tolerated($1, $2) }, "Tolerated failures",
      """
      How many elements may fail without a failure of the loop: a number, or a percentage, \
      rounded down.
      """,
      schema: #"""
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 1000000}, {"type": "string",
        "pattern": "^0*(?:[0-9]{1,2}|100)%$"}], "default": 0, "examples": [2, "10%"]}
        """#,
      synonyms: "ToleratedFailureCount ToleratedFailurePercentage allowedFailures maxFailures"
    ) { $0.loop.tolerance = $1 }
  }
}

extension DecodingPass {
  mutating func forEach(_ node: JSONNode, _ field: Field) -> ForEach? {
    guard
      isObject(
        node, field, wanted: "an object with \"in\"",
        help: node.kind == .array ? "write { \"in\": [ … ] }" : "write { \"in\": [\"a\", \"b\"] }")
    else { return nil }
    var draft = ForEachDraft()
    let reading = read(node, field, into: &draft)
    return reading.isMissingKey || !draft.hasElements ? nil : draft.loop
  }

  fileprivate mutating func elements(_ node: JSONNode, _ field: Field) -> Listing? {
    let wanted = "an array, an object, or one expression"
    switch node.kind {
    case .array: return written(node, field, count: node.elements.count)
    case .object: return written(node, field, count: node.members.count)
    case .string:
      if let text = wholeExpression(node, at: .elements) { return .computed(text) }
      let text = node.stringValue ?? ""
      report(
        .noExpression(path: path(field), text: text, wanted: wanted), at: node)
      return nil
    default:
      reportType(
        of: node, field, wanted: wanted,
        help: node.kind == .number ? "list the numbers: [1, 2, 3]" : nil)
      return nil
    }
  }

  /// A literal value; expressions inside it are reported.
  mutating func written(_ node: JSONNode, _ field: Field, count: Int) -> Listing? {
    if let inner = node.firstExpression {
      report(.expressionInside(path: path(field)), at: inner)
      return nil
    }
    guard count <= WorkflowLimits.elements else {
      report(.tooManyElements(path: path(field), count: "\(count)"), at: node)
      return nil
    }
    return .values(JSONValue(node))
  }

  fileprivate mutating func elementName(_ node: JSONNode, _ field: Field) -> String? {
    guard let name = filledText(node, field, wanted: "a name for the element") else { return nil }
    guard let problem = ValueRule.problem(withElementName: name) else { return name }
    report(problem, at: node)
    return nil
  }

  fileprivate mutating func elementKey(_ node: JSONNode, _ field: Field) -> Condition? {
    guard let text = node.stringValue else {
      reportType(
        of: node, field, wanted: "an expression that names the element",
        help: "write an expression such as \"item.name\"")
      return nil
    }
    return bareExpression(text, node, field, at: .elementKey, wanted: "an expression")
  }

  fileprivate mutating func tolerated(_ node: JSONNode, _ field: Field) -> FanOutTolerance? {
    guard node.kind == .string else {
      return integer(node, field, in: ValueRule.toleratedElements).map(FanOutTolerance.count)
    }
    guard let text = text(node, field) else { return nil }
    if let tolerance = FanOutTolerance(percentage: text) { return tolerance }
    report(.invalidTolerance(path: path(field), text: text), at: node)
    return nil
  }
}

// MARK: Matrices

/// `matrix`: runs a step for each combination of values.
extension DecodingPass {
  mutating func matrix(_ node: JSONNode, _ field: Field) -> Matrix? {
    guard
      isObject(
        node, field, wanted: "an object of axes and their values",
        help: "write { \"os\": [\"linux\", \"macos\"] }")
    else { return nil }
    var matrix = Matrix(axes: [])
    var names: [String: JSONNode] = [:]
    var hasPart = false
    for member in node.members {
      let inner = field.member(member.key)
      if member.key.isString("exclude") {
        matrix.exclude = combinations(member.value, inner, at: .exclude)
        continue
      }
      hasPart = true
      if member.key.isString("include") {
        matrix.include = combinations(member.value, inner, at: .include)
      } else if let name = name(member.key, in: &names),
        let values = axis(member.value, inner, at: .axis(name))
      {
        matrix.axes.append(Matrix.Axis(name, values, place: member.key.range))
      }
    }
    guard hasPart else {
      report(.emptyMatrix(path: path(field)), at: node)
      return nil
    }
    return check(matrix, field, at: node)
  }

  private mutating func axis(
    _ node: JSONNode, _ field: Field, at site: TextSite
  ) -> Listing? {
    if let text = wholeExpression(node, at: site) { return .computed(text) }
    guard node.kind == .array else {
      if case .axis(let name) = site, let help = Matrix.remedy(ofKey: name) {
        reportType(of: node, field, wanted: "an array of values: every key is an axis", help: help)
      } else {
        reportListing(node, field, wanted: "an array of values, or one expression")
      }
      return nil
    }
    guard !node.elements.isEmpty else {
      report(.empty(path: path(field), wanted: "at least one value"), at: node)
      return nil
    }
    var isWhole = true
    for (index, element) in node.elements.enumerated() where element.kind == .array {
      reportType(
        of: element, field.element(index),
        wanted: "a string, a number, true, false, null or an object")
      isWhole = false
    }
    return isWhole ? written(node, field, count: node.elements.count) : nil
  }

  /// Reads `include` or `exclude`.
  private mutating func combinations(
    _ node: JSONNode, _ field: Field, at site: TextSite
  ) -> Listing? {
    if let text = wholeExpression(node, at: site) { return .computed(text) }
    guard node.kind == .array else {
      reportListing(node, field, wanted: "an array of objects, or one expression")
      return nil
    }
    var isWhole = true
    for (index, element) in node.elements.enumerated() where element.kind != .object {
      reportType(
        of: element, field.element(index), wanted: "an object",
        help: "write { \"os\": \"linux\" }")
      isWhole = false
    }
    return isWhole ? written(node, field, count: node.elements.count) : nil
  }

  private mutating func reportListing(_ node: JSONNode, _ field: Field, wanted: String) {
    reportType(
      of: node, field, wanted: wanted,
      help: node.stringValue.map { "write [\(quoted($0))], or \"${{ … }}\" for an expression" }
        ?? "wrap it in an array: [ … ]")
  }

  /// Reports too many combinations, counted before `include` and `exclude`; axes that an expression
  /// computes are not counted.
  private mutating func check(_ matrix: Matrix, _ field: Field, at node: JSONNode) -> Matrix? {
    var count = 1
    for axis in matrix.axes {
      guard case .values(.array(let values)) = axis.values else { return matrix }
      let (product, isLarge) = count.multipliedReportingOverflow(by: values.count)
      count = isLarge ? .max : product
    }
    guard count > WorkflowLimits.elements else { return matrix }
    report(
      .tooManyElements(
        path: path(field), count: count == .max ? "too many" : "\(count)"), at: node)
    return nil
  }
}

extension Matrix {
  /// Help for a key of GitHub's `strategy` that was taken for an axis.
  fileprivate static func remedy(ofKey name: String) -> String? {
    switch name.lowercased().filter({ $0 != "-" && $0 != "_" }) {
    case "maxparallel":
      "limit concurrent steps with \"maxParallel\" of the workflow, or with a pool"
    case "failfast": "set \"onFailure\" of the workflow to \"cancel\" or \"continue\""
    default: nil
    }
  }
}

extension ForEach {
  /// Names with another meaning in expressions, in lower case.
  static let takenNames: Set<String> = [
    "inputs", "env", "secrets", "steps", "self", "item", "index", "matrix", "run", "workflow",
    "true", "false", "null", "nan", "infinity",
  ]
}

extension Diagnostic {
  static func expressionInside(path: String) -> Diagnostic {
    Diagnostic(
      .expression, "\(path) contains an expression, which is not allowed in a literal",
      help: "compute the whole value with one expression, such as \"${{ fromJSON(inputs.list) }}\"")
  }

  static func noExpression(path: String, text: String, wanted: String) -> Diagnostic {
    Diagnostic(
      .wrongType, "\(path) is the string \(quoted(text)), expected \(wanted)",
      help: "an expression is written \"${{ … }}\"")
  }

  static func contextName(_ name: String) -> Diagnostic {
    Diagnostic(
      .invalidID, "the name \(quoted(name)) is reserved in expressions",
      help: "choose a different name; \"item\" is always the element")
  }

  static func emptyMatrix(path: String) -> Diagnostic {
    Diagnostic(
      .empty, "\(path) has neither an axis nor \"include\"",
      help: "write { \"os\": [\"linux\", \"macos\"] }")
  }

  static func tooManyElements(path: String, count: String) -> Diagnostic {
    Diagnostic(
      .tooManyElements,
      "\(path) has \(count) elements, expected at most \(WorkflowLimits.elements)",
      help: "split it, or process several items in each step")
  }

  static func invalidTolerance(path: String, text: String) -> Diagnostic {
    Diagnostic(
      .wrongType,
      "\(path) is \(quoted(text)), expected a whole number, or a "
        + "percentage like \"10%\"",
      help: isCount(text)
        ? "write \(text) without quotes, or \"\(text)%\""
        : "a percentage is from \"0%\" to \"100%\"")
  }
}
