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
struct JSONValueDecoder: Decoder, SingleValueDecodingContainer {
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

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value == .null }

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

/// The decoding container of an object.
private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let object: JSONObject
  let codingPath: [any CodingKey]

  var allKeys: [Key] { object.members.compactMap { Key(stringValue: $0.key) } }

  func contains(_ key: Key) -> Bool { object[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).value == .null }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder(key).decode(type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    JSONValueDecoder(value: object["super"] ?? .null, codingPath: codingPath)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: Key) throws -> JSONValueDecoder {
    guard let value = object[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key,
        .init(
          codingPath: codingPath, debugDescription: "there is no member \"\(key.stringValue)\""))
    }
    return JSONValueDecoder(value: value, codingPath: codingPath + [key])
  }
}

/// The elements of an array, in order.
private struct UnkeyedValues: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  mutating func decodeNil() throws -> Bool {
    let isNull = try decoder().value == .null
    if isNull { currentIndex += 1 }
    return isNull
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try advancing { try $0.decode(type) }
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try advancing { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try advancing { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try advancing { $0 } }

  /// Advances only if `body` succeeds, so that a failed decode can be retried.
  private mutating func advancing<Value>(
    _ body: (JSONValueDecoder) throws -> Value
  ) throws -> Value {
    let value = try body(decoder())
    currentIndex += 1
    return value
  }

  private func decoder() throws -> JSONValueDecoder {
    let path = codingPath + [JSONIndex(currentIndex)]
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        JSONValue.self,
        .init(codingPath: path, debugDescription: "the array has \(elements.count) elements"))
    }
    return JSONValueDecoder(value: elements[currentIndex], codingPath: path)
  }
}

/// A position in an array.
struct JSONIndex: CodingKey {
  let intValue: Int?
  let stringValue: String

  init(_ index: Int) {
    intValue = index
    stringValue = String(index)
  }

  init?(intValue: Int) { self.init(intValue) }

  init?(stringValue: String) { nil }
}

/// A type that is decoded directly from a JSON value, without its own `Decodable` code.
private protocol JSONScalar {
  init(_ value: JSONValue, at path: [any CodingKey]) throws(DecodingError)
}

extension Bool: JSONScalar {
  init(_ value: JSONValue, at path: [any CodingKey]) throws(DecodingError) {
    guard case .bool(let bool) = value else {
      throw .mismatch(Bool.self, found: value, wanted: "a boolean", at: path)
    }
    self = bool
  }
}

extension String: JSONScalar {
  init(_ value: JSONValue, at path: [any CodingKey]) throws(DecodingError) {
    guard case .string(let text) = value else {
      throw .mismatch(String.self, found: value, wanted: "a string", at: path)
    }
    self = text
  }
}

extension Double: JSONScalar {
  init(_ value: JSONValue, at path: [any CodingKey]) throws(DecodingError) {
    self = try JSONNumber.read(value, as: Double.self, at: path) {
      number throws(JSONNumber.Misfit) in
      try number.double()
    }
  }
}

extension Float: JSONScalar {
  init(_ value: JSONValue, at path: [any CodingKey]) throws(DecodingError) {
    self = try JSONNumber.read(value, as: Float.self, at: path) {
      number throws(JSONNumber.Misfit) in
      let single = Float(try number.double())
      if single.isInfinite { throw .outOfRange }
      return single
    }
  }
}

extension FixedWidthInteger {
  init(_ value: JSONValue, at path: [any CodingKey]) throws(DecodingError) {
    self = try JSONNumber.read(value, as: Self.self, at: path) { number throws(JSONNumber.Misfit) in
      try number.integer(as: Self.self)
    }
  }
}

extension Int: JSONScalar {}
extension Int8: JSONScalar {}
extension Int16: JSONScalar {}
extension Int32: JSONScalar {}
extension Int64: JSONScalar {}
extension UInt: JSONScalar {}
extension UInt8: JSONScalar {}
extension UInt16: JSONScalar {}
extension UInt32: JSONScalar {}
extension UInt64: JSONScalar {}

extension JSONNumber {
  fileprivate static func read<Value>(
    _ value: JSONValue, as type: Value.Type, at path: [any CodingKey],
    _ convert: (JSONNumber) throws(Misfit) -> Value
  ) throws(DecodingError) -> Value {
    guard case .number(let number) = value else {
      throw .mismatch(type, found: value, wanted: "a number", at: path)
    }
    do throws(Misfit) { return try convert(number) } catch {
      let why =
        "\(number.text) is \(error == .notInteger ? "not an integer" : "out of range for \(type)")"
      throw .dataCorrupted(.init(codingPath: path, debugDescription: why))
    }
  }
}

extension DecodingError {
  /// `items[0].name: expected a string, found a number`
  package var sentence: String {
    let context: Context
    switch self {
    case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
      .dataCorrupted(let found):
      context = found
    @unknown default: return "\(self)"
    }
    return context.codingPath.sentence(context.debugDescription)
  }
}

extension EncodingError {
  /// The member that JSON cannot hold, and why.
  package var sentence: String {
    guard case .invalidValue(_, let context) = self else { return "\(self)" }
    return context.codingPath.sentence(context.debugDescription)
  }
}

extension [any CodingKey] {
  /// The path and a description of its value, as `files[0].name: expected a string`.
  fileprivate func sentence(_ description: String) -> String {
    let path = reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += (path.isEmpty ? "" : ".") + key.stringValue
      }
    }
    return (path.isEmpty ? "" : path + ": ") + description
  }
}
