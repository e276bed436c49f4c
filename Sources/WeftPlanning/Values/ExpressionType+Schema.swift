import WeftDefinition
import WeftExpressions
import WeftJSON

extension ExpressionType {
  /// The type of the values that a schema allows.
  init(_ schema: ValueSchema) {
    if let constant = schema.constant {
      self.init(of: ExpressionValue(constant))
    } else if !schema.allowed.isEmpty {
      self = .union(schema.allowed.map { ExpressionType(of: ExpressionValue($0)) })
    } else if schema.types.isEmpty {
      self = .any
    } else {
      self = .union(schema.types.map { ExpressionType($0, schema) })
    }
  }

  private init(_ type: ValueType, _ schema: ValueSchema) {
    switch type {
    case .string: self = .string
    case .number, .integer: self = .number
    case .boolean: self = .boolean
    case .null: self = .null
    case .array:
      guard case .matching(let element) = schema.array.elements else {
        self = .array(of: .any)
        return
      }
      self = .array(of: ExpressionType(element))
    case .object:
      let rest: ExpressionType? =
        switch schema.object.additional {
        case .anything: .any
        case .nothing: nil
        case .matching(let schema): ExpressionType(schema).orNull
        }
      self = .object(
        schema.object.properties.map { property in
          let type = ExpressionType(property.schema)
          let isRequired = schema.object.required.contains(property.name)
          return (property.name, isRequired ? type : type.orNull)
        }, rest: rest)
    }
  }
}

extension ValueSchema {
  /// The schema of an object's member.
  func member(_ name: String) -> ValueSchema {
    if let property = object.properties.first(where: { $0.name == name }) { return property.schema }
    guard case .matching(let schema) = object.additional else { return ValueSchema() }
    return schema
  }

  /// Whether it allows a string, or an array with one, whose beginning no rule restricts.
  var mayBeginWithDash: Bool {
    guard text.pattern == nil, allowed.isEmpty, constant == nil else { return false }
    guard !types.isEmpty, !types.contains(.string) else { return true }
    guard types.contains(.array) else { return false }
    guard case .matching(let element) = array.elements else { return true }
    return element.mayBeginWithDash
  }
}
