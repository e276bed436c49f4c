package import WeftDiagnostics
package import WeftJSON

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
