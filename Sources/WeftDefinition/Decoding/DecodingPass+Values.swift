import WeftDiagnostics
import WeftJSON

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

  /// A non-empty text without expressions; `wanted` describes it in messages.
  mutating func filledText(_ node: JSONNode, _ field: Field, wanted: String) -> String? {
    guard let text = text(node, field) else { return nil }
    guard !text.isEmpty else {
      report(.empty(path: path(field), wanted: wanted), at: node)
      return nil
    }
    return text
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
    _ node: JSONNode, _ field: Field, in range: ClosedRange<Int>, as key: ComputedKey? = nil
  ) -> Int? {
    if computes(key, node) { return nil }
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
    _ node: JSONNode, _ field: Field, allowsZero: Bool = false, as key: ComputedKey? = nil
  ) -> Duration? {
    if computes(key, node) { return nil }
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

  mutating func size(
    _ node: JSONNode, _ field: Field, as key: ComputedKey? = nil
  ) -> ByteCount? {
    if computes(key, node) { return nil }
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
  mutating func flag(_ node: JSONNode, _ field: Field, as key: ComputedKey? = nil) -> Bool {
    if computes(key, node) { return false }
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
