import WeftDiagnostics
import WeftEncoding
import WeftExpressions
public import WeftJSON

/// A loop over a step or group.
public enum FanOut: Sendable, Hashable {
  case forEach(ForEach)
  case matrix(Matrix)

  /// The most elements that may run at once; `nil` for no limit besides those of enclosing scopes, and as long as an
  /// expression has not been evaluated.
  public var maxParallel: Int? {
    switch self {
    case .forEach(let loop): loop.maxParallel
    case .matrix(let matrix): matrix.maxParallel
    }
  }

  /// The elements that may fail without failing the loop.
  public var tolerance: FanOutTolerance {
    switch self {
    case .forEach(let loop): loop.tolerance
    case .matrix(let matrix): matrix.tolerance
    }
  }

  /// Whether an expression gives ``maxParallel``.
  var hasComputedLimit: Bool {
    switch self {
    case .forEach(let loop): loop.$maxParallel.isComputed
    case .matrix(let matrix): matrix.$maxParallel.isComputed
    }
  }
}

/// A loop over the elements of a list or object.
public struct ForEach: Sendable, Hashable {
  public var elements: Listing
  /// A name for the element in expressions, besides `item`; `nil` for none.
  public var name: String?
  /// An expression for the name of an element; `nil` for the keys of an object, else the index from 0.
  public var key: Condition?
  /// The most elements that may run at once; `nil` for no limit besides those of enclosing scopes.
  @Computable public var maxParallel: Int?
  /// The elements that may fail without failing the loop.
  public var tolerance: FanOutTolerance

  public init(
    in elements: Listing, as name: String? = nil, key: Condition? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) {
    self.elements = elements
    self.name = name
    self.key = key
    self.maxParallel = maxParallel
    self.tolerance = tolerance
  }
}

/// A list or object: a literal, or the value of an expression.
public enum Listing: Sendable, Hashable {
  /// An array or an object.
  case values(JSONValue)
  /// A text that is exactly one expression.
  case computed(Condition)

  /// The paths of the files below the start directory that match patterns: a call of `glob`.
  ///
  /// - Parameter patterns: Like those of ``Command/Caching/inputs``; they cannot lead out of the start directory.
  public static func files(_ patterns: [String]) -> Listing { files(patterns, place: nil) }

  static func files(_ patterns: [String], place: SourceRange?) -> Listing {
    let arguments = patterns.map { "'\($0.replacing("'", with: "''"))'" }
    return .computed(
      Condition("${{ glob(\(arguments.joined(separator: ", "))) }}", place: place))
  }
}

extension Listing {
  /// The elements of a loop that are reported as an error: the step is a loop, and of its elements nothing is known, so
  /// that no further errors follow.
  static let unread = Listing.computed(Condition("${{ fromJSON(run.id) }}", place: nil))
}

/// The number of elements that may fail.
public enum FanOutTolerance: Sendable, Hashable {
  case count(Int)
  /// A percentage of all elements, rounded down; from 0 to 100.
  case percent(Int)

  /// The number for a loop of `count` elements.
  public func limit(of count: Int) -> Int {
    switch self {
    case .count(let limit): limit
    case .percent(let percent): count * percent / 100
    }
  }
}

extension FanOutTolerance {
  /// Reads a percentage as written in a workflow: `"10%"`; `nil` if `text` is not one, or is above 100%.
  init?(percentage text: String) {
    let digits = text.utf8.dropLast()
    guard text.utf8.last == UInt8(ascii: "%"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
      let percent = Int(Substring(digits)), percent <= 100
    else { return nil }
    self = .percent(percent)
  }
}

/// `forEach`: runs a step for each element of a list.
struct ForEachDraft: FormatObject {
  var loop = ForEach(in: .values(.array([])))
  /// `nil` unless the elements were found, and are valid.
  var elements: Listing?
  /// Whether the elements are the files that patterns match.
  var isOfFiles = false
  /// The keys found that define the elements.
  var sources = 0

  static let schema: StaticString = #"{"oneOf": [{"required": ["in"]}, {"required": ["glob"]}]}"#

  static let format = ObjectFormat<ForEachDraft>("\"forEach\"") {
    FormatKey(
      "in", "Elements",
      "An array, an object, or one expression that evaluates to one.",
      schema: #"""
        {"anyOf": [{"type": "array", "items": "@literal", "maxItems": 1000000},
        {"type": "object", "additionalProperties": "@literal"}, "@expression"]}
        """#,
      synonyms: "items list of values over elements"
    ) { pass, member, field, draft in
      draft.sources += 1
      draft.elements = pass.elements(member.value, field)
    }
    FormatKey(
      "glob", "Files",
      """
      A pattern, or several, of files below the start directory; the elements are their \
      paths, sorted, and so are the keys. Patterns are those of cache.inputs.
      """,
      schema: #"""
        {"anyOf": ["@plainFilePattern", {"type": "array", "items": "@plainFilePattern", "minItems": 1}],
        "examples": ["src/**/*.c", ["*.md", "!README.md"]]}
        """#,
      synonyms: "files pattern patterns fileGlob with_fileglob paths"
    ) { pass, member, field, draft in
      draft.sources += 1
      draft.isOfFiles = true
      draft.elements = pass.files(member.value, field)
    }
    FormatKey(
      "as", ValueFormat { $0.elementName($1, $2) }, "Name",
      "The name of the element in expressions, besides item.", schema: #""@elementName""#,
      synonyms: "var item name variable loop_var", at: \.loop.name)
    FormatKey(
      "key", ValueFormat { $0.elementKey($1, $2) }, "Key",
      "An expression that names an element; without it, its index, or its key in an object.",
      schema: #"{"$ref": "filledText", "examples": ["item.name"]}"#,
      synonyms: "group", at: \.loop.key)
    FormatKey(
      "maxParallel", .integer(as: .elementParallel), "Parallelism",
      "The maximum number of elements that are in flight at once.", schema: #"{"examples": [4]}"#,
      synonyms: "concurrency max-parallel max_parallel parallelism", at: \.loop.$maxParallel)
    FormatKey(
      "tolerate", ValueFormat { $0.tolerated($1, $2) }, "Tolerated failures",
      """
      How many elements may fail without a failure of the loop: a number, or a percentage, \
      rounded down.
      """,
      schema: #"{"$ref": "toleratedFailures", "default": 0, "examples": [2, "10%"]}"#,
      synonyms: "ToleratedFailureCount ToleratedFailurePercentage allowedFailures maxFailures"
    ) { $0.loop.tolerance = $1 }
  }
}

extension DecodingPass {
  mutating func forEach(_ node: JSONNode, _ field: Field) -> ForEach? {
    switch node.kind {
    case .array, .string: return ForEach(in: elements(node, field) ?? .unread)
    case .object: break
    default:
      reportType(
        of: node, field, wanted: "an array, one expression, or an object with \"in\" or \"glob\"",
        help: "write [\"a\", \"b\"]")
      return ForEach(in: .unread)
    }
    var draft = ForEachDraft()
    let reading = read(node, field, into: &draft)
    if draft.sources == 0, !reading.hasUnknownKey {
      report(.noElements(path: path(field)), at: node)
    } else if draft.sources > 1 {
      report(.severalLists(path: path(field)), at: node)
    }
    draft.loop.elements = (draft.sources == 1 ? draft.elements : nil) ?? .unread
    if draft.isOfFiles, draft.loop.key == nil { draft.loop.key = "item" }
    return draft.loop
  }

  /// Reads patterns as a call of `glob`.
  fileprivate mutating func files(_ node: JSONNode, _ field: Field) -> Listing? {
    guard node.kind == .array else {
      return filePattern(node, field).map { .files([$0], place: node.range) }
    }
    guard !node.elements.isEmpty else {
      report(.empty(path: path(field), wanted: "at least one pattern"), at: node)
      return nil
    }
    var patterns: [String] = []
    for (index, element) in node.elements.enumerated() {
      if let pattern = filePattern(element, field.element(index)) { patterns.append(pattern) }
    }
    return patterns.count < node.elements.count ? nil : .files(patterns, place: node.range)
  }

  private mutating func filePattern(_ node: JSONNode, _ field: Field) -> String? {
    if node.stringValue?.hasExpression == true {
      report(.computedPattern(path: path(field)), at: node)
      return nil
    }
    guard let text = filledText(node, field, wanted: "a file pattern like \"src/**/*.c\"") else {
      return nil
    }
    do throws(PathPatternError) { return try Command.Caching.pattern(text, in: []) } catch {
      report(
        .unknownFiles(
          path: path(field), error, help: "patterns are relative to the start directory"),
        at: node)
      return nil
    }
  }

  fileprivate mutating func elements(_ node: JSONNode, _ field: Field) -> Listing? {
    let wanted = "an array, an object, or one expression"
    switch node.kind {
    case .array: return written(node, field, count: node.elements.count)
    case .object: return written(node, field, count: node.members.count)
    case .string:
      if let text = wholeExpression(node) { return .computed(text) }
      let text = node.stringValue ?? ""
      report(
        .noExpression(
          path: path(field), text: text, wanted: wanted,
          help: text.contains("*") ? "for files, write { \"glob\": \(quoted(text)) }" : nil),
        at: node)
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
    return bareExpression(text, node, field, wanted: "an expression")
  }

  mutating func tolerated(_ node: JSONNode, _ field: Field) -> FanOutTolerance? {
    guard node.kind == .string else {
      return integer(node, field, in: ValueRule.toleratedElements).map(FanOutTolerance.count)
    }
    guard let text = text(node, field) else { return nil }
    if let tolerance = FanOutTolerance(percentage: text) { return tolerance }
    report(.invalidTolerance(path: path(field), text: text), at: node)
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

extension Diagnostic {
  static func expressionInside(path: String) -> Diagnostic {
    Diagnostic(
      .expression, "\(path) contains an expression, which is not allowed in a literal",
      help: "compute the whole value with one expression, such as \"${{ fromJSON(inputs.list) }}\"")
  }

  static func noElements(path: String) -> Diagnostic {
    Diagnostic(
      .missingKey, "\(path) has neither \"in\" nor \"glob\", one of which is required",
      help: "write { \"in\": [\"a\", \"b\"] }")
  }

  static func severalLists(path: String) -> Diagnostic {
    Diagnostic(
      .keysApart, "\(path) has both \"in\" and \"glob\", of which one is allowed",
      help: "leave one of them out, or write two steps")
  }

  static func computedPattern(path: String) -> Diagnostic {
    Diagnostic(
      .expression, "\(path) contains an expression, which is not allowed in a pattern",
      help: "write \"in\": \"${{ glob(format('{0}/*.c', inputs.directory)) }}\"")
  }

  static func noExpression(
    path: String, text: String, wanted: String, help: String? = nil
  ) -> Diagnostic {
    Diagnostic(
      .wrongType, "\(path) is the string \(quoted(text)), expected \(wanted)",
      help: help ?? "an expression is written \"${{ … }}\"")
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
