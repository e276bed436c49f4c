/// The type of a value, as far as it is known before evaluation.
package indirect enum ExpressionType: Sendable, Hashable {
  /// Any value.
  case any
  case null
  case boolean
  case number
  /// A string; one of `values`, if all possible values are known.
  case string(values: [String]?)
  case array(of: ExpressionType)
  case object(ObjectType)
  /// One of several types, none of which is ``any`` or another ``either``; see ``union(_:)``.
  case either([ExpressionType])

  /// Any string.
  package static let string = ExpressionType.string(values: nil)

  /// An object with these known members; `rest` is the type of all others, `nil` if there are none.
  package static func object(
    _ fields: [(String, ExpressionType)], rest: ExpressionType? = nil
  ) -> ExpressionType {
    .object(ObjectType(fields: fields.map { .init(name: $0.0, type: $0.1) }, rest: rest))
  }

  /// This type or `null`.
  package var orNull: ExpressionType { .union([self, .null]) }

  /// The types of a union; otherwise, the type itself.
  package var alternatives: [ExpressionType] {
    if case .either(let types) = self { types } else { [self] }
  }

  /// The name in messages.
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

/// The type of an object: the types of its members, by name.
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
  /// The type of members with other names; `nil` if there are none.
  package var rest: ExpressionType?

  package init(fields: [Field], rest: ExpressionType?) {
    self.fields = fields
    self.rest = rest
  }

  /// The type of a member; its name is case-insensitive.
  package func type(of name: String) -> ExpressionType? {
    fields.first { FoldedText.areEqual($0.name, name) }?.type ?? rest
  }
}

extension ExpressionType {
  /// The type of an existing value.
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

  /// The union of all types; ``any`` if there are none.
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
  /// Merges all string types into one.
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

  /// The types without the known values of strings, which are not worth keeping for many elements.
  fileprivate var generalised: [ExpressionType] {
    count <= 16 ? self : map { if case .string = $0 { .string } else { $0 } }
  }
}
