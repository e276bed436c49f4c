import WeftDiagnostics
import WeftJSON

// The values of test files: they keep their locations, and hold no expressions.

extension ValueFormat where Value: Sendable {
  /// The type, whose values keep their locations.
  var placed: ValueFormat<Placed<Value>> {
    ValueFormat<Placed<Value>>(type) { pass, node, field in
      read(&pass, node, field).map { Placed($0, node.range) }
    }
  }
}

extension JSONMember {
  func named<Value>(_ value: Value) -> Named<Value> {
    Named(name: key.stringValue ?? "", range: key.range, value: value)
  }
}

extension DecodingPass {
  mutating func filledVerbatim(
    _ node: JSONNode, _ field: Field, wanted: String
  ) -> String? {
    guard let text = plainText(node, path(field)) else { return nil }
    if text.isEmpty { report(.empty(path: path(field), wanted: wanted), at: node) }
    return text.isEmpty ? nil : text
  }

  /// The members of an object whose names the file chooses.
  mutating func named<Element>(
    _ node: JSONNode, _ field: Field, wanted: String,
    _ element: (inout DecodingPass, JSONMember) -> Element?
  ) -> [Element]? {
    guard isObject(node, field, wanted: wanted) else { return nil }
    return node.members.compactMap { member in
      inside(field.key, member: member.key) { element(&$0, member) }
    }
  }

  mutating func members(_ node: JSONNode, _ field: Field) -> [JSONMember]? {
    guard isObject(node, field, wanted: "an object of names and values") else { return nil }
    return Array(node.members)
  }

  mutating func namedValues(_ node: JSONNode, _ field: Field) -> [Named<JSONValue>]? {
    named(node, field, wanted: "an object of names and values") { _, member in
      member.value.kind == .unreadable ? nil : member.named(JSONValue(member.value))
    }
  }

  mutating func namedTexts(_ node: JSONNode, _ field: Field) -> [Named<String>]? {
    named(node, field, wanted: "an object of names and strings") { pass, member in
      pass.plainText(member.value, pass.path(.itself)).map { member.named($0) }
    }
  }

  mutating func namedTextsOrNull(_ node: JSONNode, _ field: Field) -> [Named<String?>]? {
    named(node, field, wanted: "an object of names and strings") { pass, member in
      if member.value.isNull { return member.named(String?.none) }
      return pass.plainText(member.value, pass.path(.itself)).map { member.named(String?.some($0)) }
    }
  }

  mutating func placedTexts(_ node: JSONNode, _ field: Field) -> [Placed<String>]? {
    guard
      isArray(
        node, field, wanted: "an array of strings",
        help: node.stringValue.map { "write [\(quoted($0))]" })
    else { return nil }
    var texts: [Placed<String>] = []
    for (index, element) in node.elements.enumerated() {
      guard let text = plainText(element, path(field.element(index))) else { continue }
      texts.append(Placed(text, element.range))
    }
    return texts
  }
}

extension ValueFormat<Duration> {
  /// A duration in virtual time, which may be zero.
  static var testDuration: ValueFormat {
    ValueFormat(FormatType(.duration(allowsZero: true))) { $0.duration($1, $2, allowsZero: true) }
  }
}

extension ValueFormat<String> {
  /// A text that is taken as it is, whatever it contains.
  static var verbatim: ValueFormat {
    ValueFormat(FormatType(.defined("anyText"))) { pass, node, field in
      pass.plainText(node, pass.path(field))
    }
  }
}

extension ValueFormat<JSONValue> {
  static var json: ValueFormat {
    ValueFormat { _, node, _ in node.kind == .unreadable ? nil : JSONValue(node) }
  }
}
