package import WeftDiagnostics
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

extension ValueSchema {
  /// The allowed values in a clause: `a whole number, at least 1, at most 10`.
  package var summary: String {
    var parts = [subject]
    if let pattern = text.pattern { parts.append("matching \(quoted(pattern.text))") }
    parts += limits(text.length, "character", "characters")
    if let least = number.minimum { parts.append("at least \(least)") }
    if let limit = number.exclusiveMinimum { parts.append("more than \(limit)") }
    if let most = number.maximum { parts.append("at most \(most)") }
    if let limit = number.exclusiveMaximum { parts.append("less than \(limit)") }
    if let divisor = number.divisor { parts.append("a multiple of \(divisor)") }
    parts += limits(array.count, "element", "elements")
    if array.isUnique { parts.append("unique elements") }
    if case .matching(let schema) = array.elements { parts.append("each \(schema.subject)") }
    parts += limits(object.count, "property", "properties")
    if !object.required.isEmpty {
      parts.append("with \(QuotedList(object.required, conjunction: "and"))")
    }
    return parts.joined(separator: ", ")
  }

  private var subject: String {
    if let constant { return constant.noun }
    if !allowed.isEmpty { return listed(allowed.map(\.noun), conjunction: "or") }
    if types.isEmpty { return "any value" }
    return listed(types.map(\.expectation), conjunction: "or")
  }

  private func limits(_ limits: CountLimits, _ one: String, _ many: String) -> [String] {
    switch (limits.least, limits.most) {
    case (0, nil): []
    case (let least, nil): ["at least \(least) \(least == 1 ? one : many)"]
    case (0, let most?): ["at most \(most) \(most == 1 ? one : many)"]
    case (let least, let most?) where least == most: ["\(most) \(most == 1 ? one : many)"]
    case (let least, let most?): ["\(least) to \(most) \(many)"]
    }
  }

  /// The symbol for a value in a synopsis: `TEXT`, `a|b`.
  package var placeholder: String {
    let words = allowed.compactMap { value -> String? in
      switch value {
      case .string(let text) where StepID.isValid(text.utf8): text
      case .number, .bool: value.description
      case .null, .string, .array, .object: nil
      }
    }
    if !words.isEmpty, words.count == allowed.count, words.count <= 5 {
      return words.joined(separator: "|")
    }
    if types.isEmpty || types.contains(.string) { return "TEXT" }
    if types.contains(.integer) || types.contains(.number) { return "N" }
    if types.contains(.boolean) { return "true|false" }
    return "JSON"
  }
}

extension InputDeclaration {
  /// The option that gives it on a command line; a secret comes from a file, because others can see
  /// the arguments of a program.
  package var option: String { "-i \(name)=\(isSecret ? "@FILE" : schema.placeholder)" }
}

/// The reason why a text cannot be read as a value of the declared type.
package enum TextError: Error, Sendable, Hashable {
  /// The text is not a value of any of the types.
  case unlike(String, wanted: [ValueType])
  /// It is not JSON; the location counts within the text.
  case notJSON(String, at: SourcePosition, help: String?)

  /// - Parameters:
  ///   - subject: The option or input that the text is for, such as `"-i port"`.
  ///   - isSecret: Whether the message must not contain any part of the text.
  package func message(about subject: String, isSecret: Bool = false) -> String {
    switch self {
    case .unlike(let text, let wanted):
      let expectation = listed(wanted.map(\.expectation), conjunction: "or")
      return isSecret
        ? "\(subject) is a secret with an invalid value, expected \(expectation)"
        : "\(subject) is \(quoted(text)), expected \(expectation)"
    case .notJSON(let message, let place, _):
      return "\(subject) is not JSON, at \(place.line):\(place.column)"
        + (isSecret ? "" : ": \(message)")
    }
  }

  package func help(isSecret: Bool = false) -> String? {
    switch self {
    case .unlike(let text, let wanted): isSecret ? nil : TextError.remedy(for: text, wanted)
    case .notJSON(_, _, let help): isSecret ? nil : help
    }
  }

  private static let truths: Set = ["yes", "y", "on", "1", "true", "t"]
  private static let falsehoods: Set = ["no", "n", "off", "0", "false", "f"]

  private static func remedy(for text: String, _ wanted: [ValueType]) -> String? {
    if wanted.contains(.boolean) {
      if truths.contains(text.lowercased()) { return "write true" }
      if falsehoods.contains(text.lowercased()) { return "write false" }
    }
    if wanted.contains(.integer) || wanted.contains(.number),
      text.utf8.contains(where: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    {
      return
        "numbers are written as in JSON: 7, -1.5 or 2e3, without \"+\", spaces or leading zeros"
    }
    return nil
  }
}

extension ValueSchema {
  /// The types by which a text is read: those declared, else those of the allowed values; without
  /// either, a text is taken literally.
  private func typesOfTexts(besides other: JSONValue?) -> [ValueType] {
    if !types.isEmpty { return types }
    let known = allowed + [constant, other].compactMap(\.self).filter { $0 != .null }
    let all = known.map(ValueType.init(of:))
    return ValueType.allCases.filter(all.contains)
  }

  /// Reads a text as people write it on a command line.
  ///
  /// A text is taken literally where a string is allowed. Numbers follow the grammar of JSON; `true`,
  /// `false`, `null`, arrays and objects are written as in JSON. Whether the value fits is not checked.
  ///
  /// - Parameter example: A value that is known to fit, such as the default: it gives the type if none
  ///   is declared.
  package func value(
    ofText text: String, like example: JSONValue? = nil
  ) throws(TextError) -> JSONValue {
    let types = typesOfTexts(besides: example)
    if types.isEmpty || types.contains(.string) { return .string(text) }
    if types.contains(.null), text == "null" { return .null }
    if types.contains(.boolean), text == "true" || text == "false" { return .bool(text == "true") }
    if types.contains(.number) || types.contains(.integer), let number = JSONNumber(text) {
      return .number(number)
    }
    guard types.contains(.array) || types.contains(.object) else {
      throw .unlike(text, wanted: types)
    }
    return try JSONValue(text: text)
  }
}

extension JSONValue {
  /// Reads a text that is JSON.
  package init(text: String) throws(TextError) {
    let file = SourceFile(path: "<text>", bytes: Array(text.utf8))
    let (root, diagnostics) = JSONReader.read(file)
    if let error = diagnostics.first(where: \.isError) {
      let offset = error.place.map { Int($0.range.start) } ?? 0
      throw .notJSON(error.message, at: file.position(of: offset), help: error.help)
    }
    self = root.map(JSONValue.init) ?? .null
  }
}
