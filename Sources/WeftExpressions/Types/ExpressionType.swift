/// What is known of a value before there is one.
package indirect enum ExpressionType: Sendable, Hashable {
  /// Nothing is known.
  case any
  case null
  case boolean
  case number
  /// A text; one of `values`, if these are all it can be.
  case string(values: [String]?)
  case array(of: ExpressionType)
  case object(ObjectType)
  /// One of these, of which none is ``any`` or an ``either`` again; see ``union(_:)``.
  case either([ExpressionType])

  /// Any text.
  package static let string = ExpressionType.string(values: nil)

  /// An object of which these members are known; `rest` is what others are, `nil` if there are none.
  package static func object(
    _ fields: [(String, ExpressionType)], rest: ExpressionType? = nil
  ) -> ExpressionType {
    .object(ObjectType(fields: fields.map { .init(name: $0.0, type: $0.1) }, rest: rest))
  }

  /// The type, or `null`.
  package var orNull: ExpressionType { .union([self, .null]) }

  /// The types that it is one of.
  package var alternatives: [ExpressionType] {
    if case .either(let types) = self { types } else { [self] }
  }

  /// How messages call it.
  package var name: String {
    switch self {
    case .any: "a value"
    case .null: "null"
    case .boolean: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .either(let types): types.map(\.name).joined(separator: " or ")
    }
  }
}

/// What is known of an object: its members, by name.
package struct ObjectType: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package var name: String
    package var type: ExpressionType

    package init(name: String, type: ExpressionType) {
      self.name = name
      self.type = type
    }
  }

  package var fields: [Field]
  /// What members with other names are; `nil` where there are none.
  package var rest: ExpressionType?

  package init(fields: [Field], rest: ExpressionType?) {
    self.fields = fields
    self.rest = rest
  }

  /// The type of a member, whose name is compared without regard to upper and lower case.
  package func type(of name: String) -> ExpressionType? {
    fields.first { FoldedText.areEqual($0.name, name) }?.type ?? rest
  }
}

extension ExpressionType {
  /// The type of a value that is there.
  package init(of value: ExpressionValue) {
    switch value {
    case .null: self = .null
    case .boolean: self = .boolean
    case .number: self = .number
    case .string(let text): self = .string(values: [text])
    case .array(let array):
      self = .array(of: .union(array.elements.prefix(100).map(ExpressionType.init).generalised))
      if array.elements.count > 100 { self = .array(of: .any) }
    case .object(let object):
      self = .object(
        object.members.map { ($0.key, ExpressionType(of: $0.value)) })
    }
  }

  /// All that any of the types can be; of no types at all, ``any``.
  package static func union(_ types: [ExpressionType]) -> ExpressionType {
    var union: [ExpressionType] = []
    for type in types.flatMap(\.alternatives) {
      switch type {
      case .any: return .any
      case .string(let values): union.add(stringsOf: values)
      default: if !union.contains(type) { union.append(type) }
      }
    }
    let limit = 16
    if union.isEmpty || union.count > limit { return .any }
    return union.count == 1 ? union[0] : .either(union)
  }
}

extension [ExpressionType] {
  /// Makes one type of all texts.
  fileprivate mutating func add(stringsOf values: [String]?) {
    for index in indices {
      guard case .string(let known) = self[index] else { continue }
      guard let known, let values else {
        self[index] = .string
        return
      }
      self[index] = .string(values: known + values.filter { !known.contains($0) })
      return
    }
    append(.string(values: values))
  }

  /// Without the values of texts, which of many elements are not worth knowing.
  fileprivate var generalised: [ExpressionType] {
    count <= 16 ? self : map { if case .string = $0 { .string } else { $0 } }
  }
}
