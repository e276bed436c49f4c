import WeftDiagnostics

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

/// The reason why a name finds nothing.
package enum AccessError: Error, Sendable, Hashable {
  /// The value has no members or elements.
  case nothingInside(ExpressionType)
  /// The object has no such member; `nearest` is the closest name of those it has.
  case unknownName(String, nearest: String?)
}

extension ExpressionType {
  /// The type of the value at a name, including `null` if it may be missing.
  ///
  /// - Throws: If no type has such a member. `null` itself has nothing inside, but if a value may be `null` or something
  ///   else, only the other types count.
  package func type(at name: String) throws(AccessError) -> ExpressionType {
    var found: [ExpressionType] = []
    var fault: AccessError?
    for type in alternatives {
      do {
        found.append(try type.singleType(at: name))
      } catch {
        if fault == nil || type != .null { fault = error }
      }
    }
    guard let fault else { return .union(found) }
    if found.isEmpty { throw fault }
    // A value of one of the other types gives null.
    return .union(found).orNull
  }

  private func singleType(at name: String) throws(AccessError) -> ExpressionType {
    switch self {
    case .any, .either: return .any
    case .array(let element):
      guard !NumberReading.number(from: name).isNaN else { throw .unknownName(name, nearest: nil) }
      return element.orNull
    case .object(let object):
      if let type = object.type(of: name) { return type }
      throw .unknownName(name, nearest: NearestName(object.fields.map(\.name)).nearest(to: name))
    case .null, .boolean, .number, .string: throw .nothingInside(self)
    }
  }

  /// The type at a path of names.
  ///
  /// For scopes: `names` are those of a reference after the part that the scope resolved, and `owner` is the name of
  /// that part in messages.
  package func type(
    at names: ArraySlice<ContextReference.Name>, in owner: String
  ) throws(ExpressionError) -> ExpressionType {
    var type = self
    var owner = owner
    for name in names {
      do {
        type = try type.type(at: name.text)
      } catch {
        throw ExpressionError(.access(error, in: owner), name.range)
      }
      owner += Lexer.isName(name.text) ? ".\(name.text)" : "[\(ExpressionText.literal(name.text))]"
    }
    return type
  }

  /// The type of any element or member.
  package var elementType: ExpressionType {
    get throws(AccessError) {
      var found: [ExpressionType] = []
      for type in alternatives {
        switch type {
        case .any, .either: return .any
        case .array(let element): found.append(element)
        case .object(let object):
          if object.fields.isEmpty, object.rest == nil { found.append(.null) }
          found += object.fields.map(\.type) + (object.rest.map { [$0] } ?? [])
        case .null, .boolean, .number, .string: continue
        }
      }
      if found.isEmpty { throw .nothingInside(self) }
      return .union(found)
    }
  }
}

extension ExpressionType {
  /// The type narrowed to truthy or falsy values; `nil` if there are none.
  package func narrowed(to truth: Bool) -> ExpressionType? {
    let left = alternatives.compactMap { $0.singleNarrowed(to: truth) }
    return left.isEmpty ? nil : .union(left)
  }

  private func singleNarrowed(to truth: Bool) -> ExpressionType? {
    switch self {
    case .any, .boolean, .number, .either: return self
    case .null: return truth ? nil : self
    case .array, .object: return truth ? self : nil
    case .string(let values):
      guard truth else {
        return values.map { $0.contains("") } ?? true ? .string(values: [""]) : nil
      }
      guard let values else { return self }
      let left = values.filter { !$0.isEmpty }
      return left.isEmpty ? nil : .string(values: left)
    }
  }

  /// Whether values of these types can ever be equal under the coercions of `==`.
  func canEqual(_ other: ExpressionType) -> Bool {
    alternatives.contains { left in other.alternatives.contains { left.canEqualSingle($0) } }
  }

  private func canEqualSingle(_ other: ExpressionType) -> Bool {
    switch (self, other) {
    case (.any, _), (_, .any), (.array, .array), (.object, .object): return true
    case (.array, _), (_, .array), (.object, _), (_, .object): return false
    case (.string(let left), .string(let right)):
      guard let left, let right else { return true }
      return left.contains { text in right.contains { FoldedText.areEqual(text, $0) } }
    default:
      guard let left = numbers, let right = other.numbers else {
        return numbers?.isEmpty != true && other.numbers?.isEmpty != true
      }
      return left.contains { right.contains($0) }
    }
  }

  /// All numbers to which the values can be coerced; `nil` if there are too many to list.
  private var numbers: [Double]? {
    switch self {
    case .null: [0]
    case .boolean: [0, 1]
    case .string(let values): values?.map { NumberReading.number(from: $0) }.filter { !$0.isNaN }
    case .any, .number, .array, .object, .either: nil
    }
  }
}
