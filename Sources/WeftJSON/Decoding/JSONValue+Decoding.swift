extension JSONValue {
  /// Decodes this value as another type.
  ///
  /// Numbers must fit exactly, except for a `Double`, which gets the nearest value. Members that the type does not
  /// decode are ignored; `null` and missing members decode to `nil` for an optional.
  ///
  /// - Throws: An error with the coding path and the value found there.
  public func decoded<Value: Decodable>(
    as type: Value.Type = Value.self
  ) throws(DecodingError) -> Value {
    do {
      return try JSONValueDecoder(value: self, codingPath: []).decode(type)
    } catch let error as DecodingError {
      throw error
    } catch {
      throw .dataCorrupted(
        .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
    }
  }

  /// "a string", "an object" …
  var noun: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// A value and its coding path.
struct JSONValueDecoder: Decoder {
  let value: JSONValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  /// Decodes scalars directly; other types decode themselves from this decoder.
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard let scalar = type as? any JSONScalar.Type else { return try Value(from: self) }
    // `scalar` is `Value`, which the compiler cannot know.
    return try scalar.init(value, at: codingPath) as! Value
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let object) = value else {
      throw mismatch([String: JSONValue].self, "an object")
    }
    return KeyedDecodingContainer(KeyedValues<Key>(object: object, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([JSONValue].self, "an array") }
    return UnkeyedValues(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    SingleValue(decoder: self)
  }

  private func mismatch(_ type: Any.Type, _ wanted: String) -> DecodingError {
    .mismatch(type, found: value, wanted: wanted, at: codingPath)
  }
}

extension DecodingError {
  /// A missing value if `null` was found, and a type mismatch otherwise.
  static func mismatch(
    _ type: Any.Type, found value: JSONValue, wanted: String, at path: [any CodingKey]
  ) -> DecodingError {
    let context = Context(
      codingPath: path, debugDescription: "expected \(wanted), found \(value.noun)")
    return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}
