package import WeftDiagnostics
package import WeftJSON

extension DecodingPass {
  /// A text without expressions.
  mutating func text(_ node: JSONNode, _ field: Field) -> String? {
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "a string", help: stringHelp(for: node))
      return nil
    }
    guard mayHaveExpression(node) else {
      return String(decoding: content(of: node), as: UTF8.self)
    }
    let text = node.stringValue ?? ""
    guard !text.hasExpression else {
      report(.expression(path: path(field)), at: node)
      return nil
    }
    return text
  }

  /// Whether a string contains a dollar sign, or an escape that may be one.
  func mayHaveExpression(_ node: JSONNode) -> Bool {
    node.isEscaped || content(of: node).hasDollar
  }

  /// A program and its arguments.
  mutating func arguments(
    _ node: JSONNode, _ field: Field, allowsExpressions: Bool = false
  ) -> [String]? {
    guard !node.elements.isEmpty else {
      report(.empty(path: path(field), wanted: "a program and its arguments"), at: node)
      return nil
    }
    var arguments: [String] = []
    var isWhole = true
    for (index, element) in node.elements.enumerated() {
      let argument =
        allowsExpressions
        ? text(element, field.element(index), at: .argument(index))
        : text(element, field.element(index))
      if index == 0, argument == "" {
        report(.empty(path: path(field.element(0)), wanted: "the name of a program"), at: element)
        isWhole = false
      }
      if let argument { arguments.append(argument) } else { isWhole = false }
    }
    return isWhole ? arguments : nil
  }

  mutating func integer(
    _ node: JSONNode, _ field: Field, in range: ClosedRange<Int>
  ) -> Int? {
    guard let number = node.numberValue else {
      reportType(
        of: node, field,
        wanted: "a whole number from \(range.lowerBound) to \(range.upperBound)",
        help: numberHelp(for: node))
      return nil
    }
    guard let integer = number.asInt, range.contains(integer) else {
      report(
        .numberOutOfRange(path: path(field), number: node.sourceText, wanted: range), at: node)
      return nil
    }
    return integer
  }

  mutating func duration(
    _ node: JSONNode, _ field: Field, allowsZero: Bool = false
  ) -> Duration? {
    if node.kind == .number {
      report(.durationWithoutUnit(path: path(field), number: node.sourceText), at: node)
      return nil
    }
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "a duration like \"30s\"")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return try DurationText.duration(from: text, allowsZero: allowsZero)
    } catch {
      report(
        .invalidDuration(path: path(field), text: text, fault: error, allowsZero: allowsZero),
        at: node)
      return nil
    }
  }

  mutating func size(_ node: JSONNode, _ field: Field) -> ByteCount? {
    if node.kind == .number {
      report(.sizeWithoutUnit(path: path(field), number: node.sourceText), at: node)
      return nil
    }
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "a size like \"10MB\"")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return try SizeText.size(from: text)
    } catch {
      report(.invalidSize(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }

  /// A Boolean; `false` if the value is not one.
  mutating func flag(_ node: JSONNode, _ field: Field) -> Bool {
    if let flag = node.boolValue { return flag }
    reportType(of: node, field, wanted: "true or false", help: flagHelp(for: node))
    return false
  }

  /// Reports the value's type and the expected one, unless the reader has already reported it as unreadable.
  mutating func reportType(
    of node: JSONNode, _ field: Field, found: String? = nil, wanted: String, help: String? = nil
  ) {
    guard node.kind != .unreadable else { return }
    report(
      .wrongType(path: path(field), found: found ?? node.noun, wanted: wanted, help: help),
      at: node)
  }

  private func flagHelp(for node: JSONNode) -> String? {
    guard let text = node.stringValue, text == "true" || text == "false" else { return nil }
    return "write \(text) without quotes"
  }

  private func stringHelp(for node: JSONNode) -> String? {
    switch node.kind {
    case .number, .bool: "write \"\(shortened(node.sourceText))\""
    default: nil
    }
  }

  private func numberHelp(for node: JSONNode) -> String? {
    guard let text = node.stringValue, isCount(text) else { return nil }
    return "write \(text) without quotes"
  }

  /// Reads the elements of an array, and omits those for which there is no value.
  ///
  /// - Parameter atLeast: A description of what an empty array lacks; `nil` if it may be empty.
  /// - Returns: `nil`, after a report, for any other value.
  mutating func elements<Element>(
    of node: JSONNode, _ field: Field, wanted: String, help: @autoclosure () -> String? = nil,
    atLeast: String? = nil, _ read: (inout DecodingPass, JSONNode, Field) -> Element?
  ) -> [Element]? {
    guard isArray(node, field, wanted: wanted, help: help()) else { return nil }
    let nodes = node.elements
    if let atLeast, nodes.isEmpty {
      report(.empty(path: path(field), wanted: atLeast), at: node)
      return nil
    }
    var elements: [Element] = []
    elements.reserveCapacity(nodes.count)
    for (index, element) in nodes.enumerated() {
      if let element = read(&self, element, field.element(index)) { elements.append(element) }
    }
    return elements
  }

  /// Whether it is an array; otherwise this reports its type.
  mutating func isArray(
    _ node: JSONNode, _ field: Field, wanted: String, help: @autoclosure () -> String? = nil
  ) -> Bool {
    if node.kind == .array { return true }
    reportType(of: node, field, wanted: wanted, help: help())
    return false
  }

  /// Whether it is an object; otherwise this reports its type.
  mutating func isObject(
    _ node: JSONNode, _ field: Field, wanted: String, help: @autoclosure () -> String? = nil
  ) -> Bool {
    if node.kind == .object { return true }
    reportType(of: node, field, wanted: wanted, help: help())
    return false
  }

  /// Reads an object by its table; reports any other value.
  mutating func object<Object: FormatObject>(
    _ node: JSONNode, _ field: Field, from empty: Object, wanted: String,
    help: @autoclosure () -> String? = nil
  ) -> Object? {
    guard isObject(node, field, wanted: wanted, help: help()) else { return nil }
    var object = empty
    read(node, field, into: &object)
    return object
  }
}

// MARK: Expressions

extension DecodingPass {
  /// A text that may contain expressions; they are checked once the whole file is known.
  mutating func text(_ node: JSONNode, _ field: Field, at site: TextSite?) -> String? {
    guard let site, node.kind == .string, mayHaveExpression(node), let text = node.stringValue,
      text.hasExpression
    else { return text(node, field) }
    texts.append(TextPlace(site, at: node.range))
    return text
  }

  /// A non-empty text, which contains no expressions unless it has a site; `wanted` describes it in messages.
  mutating func filledText(
    _ node: JSONNode, _ field: Field, at site: TextSite? = nil, wanted: String
  ) -> String? {
    guard let text = text(node, field, at: site) else { return nil }
    guard !text.isEmpty else {
      report(.empty(path: path(field), wanted: wanted), at: node)
      return nil
    }
    return text
  }

  /// Whether an expression gives the value; if so, it is passed on, unless it is not allowed here.
  mutating func computes(
    _ node: JSONNode, _ field: Field, _ take: (Condition) -> Void
  ) -> Bool {
    guard let text = wholeExpression(node) else { return false }
    if computesNothing {
      report(.expressionInList(path: path(field)), at: node)
    } else {
      take(text)
    }
    return true
  }

  /// Reads an object of its own and returns the locations of its texts.
  mutating func collectingTexts(_ read: (inout DecodingPass) -> Void) -> [TextPlace] {
    let outer = texts
    defer { texts = outer }
    texts = []
    read(&self)
    return texts
  }

  /// Reads an expression, bare or as `${{ … }}`. It is checked once the whole file is known.
  mutating func condition(_ node: JSONNode, _ field: Field) -> Condition? {
    if node.kind == .bool { return Condition(node.sourceText, place: node.range) }
    guard let text = node.stringValue else {
      reportType(
        of: node, field, wanted: "a condition", help: "write an expression such as \"success()\"")
      return nil
    }
    return bareExpression(text, node, field, wanted: "a condition")
  }

  mutating func bareExpression(
    _ text: String, _ node: JSONNode, _ field: Field, wanted: String
  ) -> Condition? {
    guard !text.isEmpty else {
      report(.noCondition(path: path(field), wanted: wanted), at: node)
      return nil
    }
    return Condition(text, place: node.range)
  }

  /// The text in place of a whole value; `nil` if it contains no expression.
  ///
  /// Whether it is exactly one expression is checked once the whole file is known.
  func wholeExpression(_ node: JSONNode) -> Condition? {
    guard node.kind == .string, mayHaveExpression(node), let text = node.stringValue,
      text.hasExpression
    else { return nil }
    return Condition(text, place: node.range)
  }
}

// MARK: Values inside declarations

/// Values inside declarations: they contain no expressions, and their path is a string.
extension DecodingPass {
  mutating func plainText(_ node: JSONNode, _ path: String) -> String? {
    if let text = node.stringValue { return text }
    reportType(of: node, path, wanted: "a string")
    return nil
  }

  mutating func flag(_ node: JSONNode, _ path: String) -> Bool? {
    if let flag = node.boolValue { return flag }
    reportType(of: node, path, wanted: "true or false")
    return nil
  }

  mutating func count(_ node: JSONNode, _ path: String) -> Int? {
    let range = 0...Int(Int32.max)
    guard let number = node.numberValue else {
      reportType(of: node, path, wanted: "a whole number", help: unquotingHelp(for: node))
      return nil
    }
    guard let count = number.asInt, range.contains(count) else {
      report(.numberOutOfRange(path: path, number: node.sourceText, wanted: range), at: node)
      return nil
    }
    return count
  }

  mutating func reportType(
    of node: JSONNode, _ path: String, wanted: String, help: String? = nil
  ) {
    guard node.kind != .unreadable else { return }
    report(.wrongType(path: path, found: node.noun, wanted: wanted, help: help), at: node)
  }

  /// Help for a number in quotes.
  func unquotingHelp(for node: JSONNode) -> String? {
    guard let text = node.stringValue, JSONNumber(text) != nil else { return nil }
    return "write \(shortened(text)) without quotes"
  }
}

extension ValueFormat<Bool> {
  /// A truth that no expression gives.
  static var plainFlag: ValueFormat {
    ValueFormat(FormatType(.flag)) { $0.flag($1, $0.path($2)) }
  }
}

extension JSONNode {
  /// The value as a noun phrase for messages.
  package var noun: String {
    switch kind {
    case .null: "null"
    case .bool: boolValue == true ? "true" : "false"
    case .number: "the number \(shortened(sourceText))"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .unreadable: "unreadable"
    }
  }
}

extension JSONNode {
  /// Whether a string in the value contains `${{`.
  var holdsExpression: Bool {
    switch kind {
    case .string: stringValue?.hasExpression ?? false
    case .array: elements.contains(where: \.holdsExpression)
    case .object: members.contains { $0.value.holdsExpression }
    case .null, .bool, .number, .unreadable: false
    }
  }

  /// The node at a path inside the value, or the deepest one that exists on the way.
  ///
  /// - Parameter ofName: Whether to return the name of the last property instead of its value.
  package func node(at path: ValuePath, ofName: Bool = false) -> JSONNode {
    var node = self
    for (depth, component) in path.components.enumerated() {
      let isLast = depth == path.components.count - 1
      switch component {
      case .element(let index):
        guard let element = node.elements.enumerated().first(where: { $0.offset == index }) else {
          return node
        }
        node = element.element
      case .property(let name):
        var found: JSONMember?
        for member in node.members where member.key.isString(equalTo: name) { found = member }
        guard let found else { return node }
        node = isLast && ofName ? found.key : found.value
      }
    }
    return node
  }

  /// The location of a part of a string, by UTF-8 offsets in its decoded text.
  package func place(ofUTF8 range: Range<Int>) -> Diagnostic.Place {
    let start = sourceOffset(ofUTF8: range.lowerBound)
    let end = sourceOffset(ofUTF8: range.upperBound)
    return Diagnostic.Place(file: document.file, range: SourceRange(start: start, end: end))
  }
}

extension Diagnostic {
  /// A problem with a workflow file, which rejects it.
  init(_ code: DefinitionCode, _ message: String, help: String? = nil) {
    self.init(.error, code: code.rawValue, message: message, place: nil, help: help)
  }

  static func wrongType(path: String, found: String, wanted: String, help: String?) -> Diagnostic {
    Diagnostic(.wrongType, "\(path) is \(found), expected \(wanted)", help: help)
  }

  static func empty(path: String, wanted: String) -> Diagnostic {
    Diagnostic(.empty, "\(path) is empty, expected \(wanted)")
  }

  static func invalidDuration(
    path: String, text: String, fault: DurationText.ParseError, allowsZero: Bool
  ) -> Diagnostic {
    Diagnostic(
      .invalidDuration,
      "\(path) is \(quoted(text)), \(fault.expectation(allowsZero: allowsZero))",
      help: fault.help(allowsZero: allowsZero))
  }

  static func durationWithoutUnit(path: String, number: String) -> Diagnostic {
    Diagnostic(
      .invalidDuration, "\(path) is the number \(number), expected a duration like \"30s\"",
      help: "write \"\(isCount(number) ? number : "30")s\"; \(DurationText.ParseError.units)")
  }

  static func invalidSize(path: String, text: String, fault: SizeText.ParseError) -> Diagnostic {
    Diagnostic(.invalidSize, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
  }

  static func sizeWithoutUnit(path: String, number: String) -> Diagnostic {
    Diagnostic(
      .invalidSize, "\(path) is the number \(number), expected a size like \"10MB\"",
      help: "write \"\(isCount(number) ? number : "10")B\"; \(SizeText.ParseError.units)")
  }

  static func numberOutOfRange(path: String, number: String, wanted: ClosedRange<Int>) -> Diagnostic
  {
    Diagnostic(
      .numberOutOfRange,
      "\(path) is \(shortened(number)), "
        + "expected a whole number from \(wanted.lowerBound) to \(wanted.upperBound)")
  }

  static func unknownWord(
    path: String, word: String, wanted: String, nearest: String?, help: String?
  ) -> Diagnostic {
    Diagnostic(
      .unknownWord, "\(path) is \(quoted(word)), expected \(wanted)",
      help: nearest.asSuggestion ?? help)
  }

  static func equalNames(_ name: String, first: String) -> Diagnostic {
    Diagnostic(
      .equalNames,
      "\(quoted(name)) differs from \(quoted(first)) only in case",
      help: "expressions ignore case: rename one of the two")
  }

  static func expression(path: String) -> Diagnostic {
    Diagnostic(
      .expression, "\(path) contains an expression, which is not allowed here",
      help:
        "expressions are allowed in run, script, stdin, cwd, if, name and approve; in values of env, "
        + "outputs, with and http; and in place of a number, size, duration, list or boolean")
  }

  static func noCondition(path: String, wanted: String) -> Diagnostic {
    Diagnostic(
      .empty, "\(path) is empty, expected \(wanted)",
      help: "write an expression such as \"inputs.release\", or omit the key")
  }
}
