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

extension ValueFormat<String> {
  static func filledVerbatim(_ wanted: String) -> ValueFormat {
    ValueFormat { pass, node, field in
      guard let text = pass.plainText(node, pass.path(field)) else { return nil }
      if text.isEmpty { pass.report(.empty(path: pass.path(field), wanted: wanted), at: node) }
      return text.isEmpty ? nil : text
    }
  }
}

extension DecodingPass {
  /// The members of an object whose names the file chooses.
  mutating func named<Element>(
    _ node: JSONNode, _ field: Field, wanted: String, help: String? = nil,
    _ element: (inout DecodingPass, JSONMember) -> Element?
  ) -> [Element]? {
    guard isObject(node, field, wanted: wanted, help: help) else { return nil }
    return node.members.compactMap { member in
      inside(field.key, member: member.key) { element(&$0, member) }
    }
  }

  mutating func members(_ node: JSONNode, _ field: Field) -> [JSONMember]? {
    guard isObject(node, field, wanted: "an object of names and values") else { return nil }
    return Array(node.members)
  }

  mutating func placedTexts(_ node: JSONNode, _ field: Field) -> [Placed<String>]? {
    elements(
      of: node, field, wanted: "an array of strings",
      help: node.stringValue.map { "write [\(quoted($0))]" }
    ) { pass, element, field in
      pass.plainText(element, pass.path(field)).map { Placed($0, element.range) }
    }
  }

  /// Reads an object that is the value of a key, or an element of it, at a path of its own.
  @discardableResult
  mutating func readInside<Object: FormatObject>(
    _ field: Field, _ node: JSONNode, into object: inout Object
  ) -> ObjectReading {
    inside(field.key, at: field.index ?? -1) { $0.read(node, .itself, into: &object) }
  }
}

extension ValueFormat<[Placed<String>]> {
  /// Addresses of steps, or patterns.
  static var patterns: ValueFormat { ValueFormat("patterns") { $0.placedTexts($1, $2) } }
}

extension ValueFormat<[Named<JSONValue>]> {
  static var namedValues: ValueFormat {
    ValueFormat {
      $0.named($1, $2, wanted: "an object of names and values") { _, member in
        member.value.kind == .unreadable ? nil : member.named(JSONValue(member.value))
      }
    }
  }
}

extension ValueFormat<[Named<String>]> {
  static var namedTexts: ValueFormat {
    ValueFormat("texts") {
      $0.named($1, $2, wanted: "an object of names and strings") { pass, member in
        pass.plainText(member.value, pass.path(.itself)).map { member.named($0) }
      }
    }
  }
}

extension ValueFormat<[Named<String?>]> {
  static var namedTextsOrNull: ValueFormat {
    ValueFormat("textsOrNull") {
      $0.named($1, $2, wanted: "an object of names and strings") { pass, member in
        if member.value.isNull { return member.named(nil) }
        return pass.plainText(member.value, pass.path(.itself)).map { member.named($0) }
      }
    }
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
    ValueFormat("anyText") { $0.plainText($1, $0.path($2)) }
  }
}

extension ValueFormat<JSONValue> {
  static var json: ValueFormat {
    ValueFormat { _, node, _ in node.kind == .unreadable ? nil : JSONValue(node) }
  }
}
