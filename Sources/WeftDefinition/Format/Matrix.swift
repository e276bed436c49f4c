import WeftDiagnostics
import WeftJSON

/// A loop over the combinations of the values of axes, like GitHub's `strategy.matrix`.
public struct Matrix: Sendable, Hashable {
  public struct Axis: Sendable, Hashable {
    public var name: String
    /// An array, or an expression that evaluates to one.
    public var values: Listing

    public init(_ name: String, _ values: Listing) {
      self.name = name
      self.values = values
    }
  }

  /// The axes in the order of the file; the last one varies fastest.
  public var axes: [Axis]
  /// An array of objects that extend combinations or add some; `nil` for none.
  public var include: Listing?
  /// An array of objects: combinations with all values of one of them are dropped; `nil` for none.
  public var exclude: Listing?
  /// The most combinations that may run at once; `nil` for no limit besides those of enclosing scopes.
  @Computable public var maxParallel: Int?
  /// The combinations that may fail without failing the loop.
  public var tolerance: FanOutTolerance

  public init(
    axes: [Axis], include: Listing? = nil, exclude: Listing? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) {
    self.axes = axes
    self.include = include
    self.exclude = exclude
    self.maxParallel = maxParallel
    self.tolerance = tolerance
  }
}

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
        matrix.exclude = combinations(member.value, inner)
        continue
      }
      if member.key.isString("maxParallel") {
        readLimit(member.value, inner, into: &matrix)
        continue
      }
      if member.key.isString("tolerate") {
        if let tolerance = tolerated(member.value, inner) { matrix.tolerance = tolerance }
        continue
      }
      hasPart = true
      if member.key.isString("include") {
        matrix.include = combinations(member.value, inner)
      } else if let name = name(member.key, in: &names) {
        // An axis without valid values is still one that expressions may read.
        let values = axis(member.value, inner, named: name) ?? .values(.array([]))
        matrix.axes.append(Matrix.Axis(name, values))
      }
    }
    guard hasPart else {
      report(.emptyMatrix(path: path(field)), at: node)
      return nil
    }
    guard !matrix.axes.isEmpty || matrix.include != nil else { return nil }
    return check(matrix, field, at: node)
  }

  private mutating func readLimit(
    _ node: JSONNode, _ field: Field, into matrix: inout Matrix
  ) {
    if computes(node, field, { matrix.$maxParallel = .computed($0, until: nil) }) { return }
    matrix.maxParallel = integer(node, field, in: ValueRule.maxParallel)
  }

  private mutating func axis(
    _ node: JSONNode, _ field: Field, named name: String
  ) -> Listing? {
    if let text = wholeExpression(node) { return .computed(text) }
    guard node.kind == .array else {
      if let help = Matrix.remedy(ofKey: name) {
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
  private mutating func combinations(_ node: JSONNode, _ field: Field) -> Listing? {
    if let text = wholeExpression(node) { return .computed(text) }
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
      "write \"maxParallel\": the most combinations that run at once"
    case "failfast": "set \"onFailure\" of the workflow to \"cancel\" or \"continue\""
    default: nil
    }
  }
}
