public import WeftJSON
public import WeftPatterns

/// The rules for a value: the part of JSON Schema (draft 2020-12) in which inputs and outputs are declared.
///
/// As in JSON Schema, rules for one type do not apply to values of others: without ``types`` any
/// value is allowed, and ``text`` only applies to strings. The decoder rejects rules that can never
/// apply or never be satisfied; a schema built in Swift is taken as it is.
public struct ValueSchema: Sendable, Hashable {
  /// The types of which a value must have one; empty for any.
  public var types: [ValueType]
  /// `enum`: the values of which it must be one; empty for any.
  public var allowed: [JSONValue]
  /// `const`.
  public var constant: JSONValue?
  public var text = TextRules()
  public var number = NumberRules()
  public var array = ArrayRules()
  public var object = ObjectRules()
  public var title: String?
  public var description: String?

  public init(_ types: ValueType..., allowed: [JSONValue] = []) {
    self.types = types
    self.allowed = allowed
  }

  /// `minLength`, `maxLength`, `pattern`. Lengths count Unicode scalars.
  public struct TextRules: Sendable, Hashable {
    public var length = CountLimits()
    public var pattern: Pattern?

    public init() {}
  }

  /// `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `multipleOf`: exact, to the last digit.
  public struct NumberRules: Sendable, Hashable {
    public var minimum: JSONNumber?
    public var maximum: JSONNumber?
    public var exclusiveMinimum: JSONNumber?
    public var exclusiveMaximum: JSONNumber?
    /// Greater than zero, with at most 18 significant digits.
    public var divisor: JSONNumber?

    public init() {}
  }

  /// `minItems`, `maxItems`, `uniqueItems`, `items`.
  public struct ArrayRules: Sendable, Hashable {
    public var count = CountLimits()
    public var isUnique = false
    public var elements = MemberRule.anything

    public init() {}
  }

  /// `properties`, `required`, `additionalProperties`, `minProperties`, `maxProperties`.
  public struct ObjectRules: Sendable, Hashable {
    public var properties: [Property] = []
    public var required: [String] = []
    /// The rule for properties that are not in ``properties``.
    public var additional = MemberRule.anything
    public var count = CountLimits()

    public init() {}
  }

  public struct Property: Sendable, Hashable {
    public var name: String
    public var schema: ValueSchema

    public init(_ name: String, _ schema: ValueSchema) {
      self.name = name
      self.schema = schema
    }
  }

  /// The allowed number of characters, elements or properties.
  public struct CountLimits: Sendable, Hashable {
    public var least = 0
    /// `nil` for any number.
    public var most: Int?

    public init(least: Int = 0, most: Int? = nil) {
      self.least = least
      self.most = most
    }
  }

  /// The rule for parts of a value that have no rule of their own.
  public indirect enum MemberRule: Sendable, Hashable {
    case anything
    case nothing
    case matching(ValueSchema)
  }
}

extension ValueSchema.ObjectRules {
  /// The schema of a declared property.
  func schema(of name: String) -> ValueSchema? {
    properties.first { $0.name.utf8.elementsEqual(name.utf8) }?.schema
  }
}
