import WeftDiagnostics
import WeftJSON

/// `matrix`: runs a step for each combination of values.
extension DecodingPass {
  mutating func matrix(_ node: JSONNode) -> Matrix? {
    let field = Field("matrix")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object of axes and their values",
        help: "write { \"os\": [\"linux\", \"macos\"] }")
      return nil
    }
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
      report(.control(.emptyMatrix(path: path(field))), at: node)
      return nil
    }
    return check(matrix, field, at: node)
  }

  private mutating func axis(
    _ node: JSONNode, _ field: Field, at site: TextSite
  ) -> Listing? {
    if let text = wholeExpression(node, at: site) { return .computed(text) }
    guard node.kind == .array else {
      if case .axis(let name) = site, let help = Matrix.cure(ofKey: name) {
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
        wanted: "a text, a number, true, false, null or an object")
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
        ?? "put it into brackets: [ … ]")
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
      .control(
        .tooManyElements(
          path: path(field), count: count == .max ? "very many" : "\(count)")), at: node)
    return nil
  }
}

extension Matrix {
  /// Help for a key of GitHub's `strategy` that was taken for an axis.
  fileprivate static func cure(ofKey name: String) -> String? {
    switch name.lowercased().filter({ $0 != "-" && $0 != "_" }) {
    case "maxparallel":
      "limit the steps that run at once by \"maxParallel\" of the workflow, or by a pool"
    case "failfast": "say \"onFailure\": \"cancel\" or \"continue\" of the workflow"
    default: nil
    }
  }
}
