extension JSONValue {
  /// Encodes a value of another type.
  ///
  /// Members have the order in which the type encodes them. An optional that is `nil` has no member, unless the type
  /// encodes it as `null`.
  ///
  /// - Throws: An error with the coding path, such as that of a number that is not finite.
  public init(encoding value: some Encodable) throws(EncodingError) {
    do {
      self = try JSONValueEncoder(codingPath: []).encode(value)
    } catch let error as EncodingError {
      throw error
    } catch {
      throw .invalidValue(
        value, .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
    }
  }
}

extension JSONValue: Codable {
  /// Decodes any JSON. A decoder that distinguishes integers from other numbers keeps all of their digits.
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? JSONValueDecoder {
      self = decoder.value
    } else if let container = try? decoder.container(keyedBy: AnyKey.self) {
      self = .object(
        JSONObject(
          try container.allKeys.map {
            ($0.stringValue, try container.decode(JSONValue.self, forKey: $0))
          }))
    } else if var container = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !container.isAtEnd { elements.append(try container.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      let container = try decoder.singleValueContainer()
      if container.decodeNil() {
        self = .null
      } else if let bool = try? container.decode(Bool.self) {
        self = .bool(bool)
      } else if let integer = try? container.decode(Int.self) {
        self = .int(integer)
      } else if let number = try? container.decode(Double.self), let exact = JSONNumber(number) {
        self = .number(exact)
      } else {
        self = .string(try container.decode(String.self))
      }
    }
  }

  /// Encodes the value as the JSON that it is; a number that fits no `Int` is encoded as a `Double`.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .null:
      var container = encoder.singleValueContainer()
      try container.encodeNil()
    case .bool(let bool):
      var container = encoder.singleValueContainer()
      try container.encode(bool)
    case .number(let number):
      var container = encoder.singleValueContainer()
      if let integer = number.asInt {
        try container.encode(integer)
      } else {
        try container.encode(try number.double())
      }
    case .string(let text):
      var container = encoder.singleValueContainer()
      try container.encode(text)
    case .array(let elements):
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    case .object(let object):
      var container = encoder.container(keyedBy: AnyKey.self)
      for member in object {
        try container.encode(member.value, forKey: AnyKey(stringValue: member.key))
      }
    }
  }
}

/// A key of any name.
private struct AnyKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { nil }
}

/// The value that a container is filling, shared with the containers inside it.
private final class EncodedNode {
  /// The members and elements stay nodes until the end, because they may still be filled.
  enum Content {
    case value(JSONValue)
    case object([(key: String, node: EncodedNode)])
    case array([EncodedNode])
  }

  var content: Content?

  var value: JSONValue? {
    switch content {
    case nil: nil
    case .value(let value): value
    case .object(let members):
      .object(JSONObject(members.compactMap { key, node in node.value.map { (key, $0) } }))
    case .array(let nodes): .array(nodes.map { $0.value ?? .object(JSONObject()) })
    }
  }

  func beginObject() { if case .object? = content {} else { content = .object([]) } }

  func beginArray() { if case .array? = content {} else { content = .array([]) } }

  func member(_ key: String) -> EncodedNode {
    guard case .object(var members)? = content else { preconditionFailure("not an object") }
    let node = EncodedNode()
    content = nil
    members.append((key, node))
    content = .object(members)
    return node
  }

  var count: Int { if case .array(let nodes)? = content { nodes.count } else { 0 } }

  func element() -> EncodedNode {
    guard case .array(var nodes)? = content else { preconditionFailure("not an array") }
    let node = EncodedNode()
    content = nil
    nodes.append(node)
    content = .array(nodes)
    return node
  }
}

/// A value and its coding path.
private struct JSONValueEncoder: Encoder, SingleValueEncodingContainer {
  let codingPath: [any CodingKey]
  private let node: EncodedNode
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(codingPath: [any CodingKey], filling node: EncodedNode = EncodedNode()) {
    self.codingPath = codingPath
    self.node = node
  }

  /// Encodes a value as a whole; one that encodes nothing becomes an empty object.
  func encode(_ value: some Encodable) throws -> JSONValue {
    try fill(value)
    return node.value ?? .object(JSONObject())
  }

  func fill(_ value: some Encodable) throws {
    if let value = value as? JSONValue {
      node.content = .value(value)
    } else {
      try value.encode(to: self)
    }
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.beginObject()
    return KeyedEncodingContainer(KeyedMembers<Key>(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.beginArray()
    return UnkeyedElements(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() throws { node.content = .value(.null) }
  func encode(_ value: Bool) throws { node.content = .value(.bool(value)) }
  func encode(_ value: String) throws { node.content = .value(.string(value)) }
  func encode(_ value: Float) throws { try encode(Double(value)) }
  func encode(_ value: Int) throws { node.content = .value(.int(value)) }
  func encode(_ value: Int8) throws { node.content = .value(.int(value)) }
  func encode(_ value: Int16) throws { node.content = .value(.int(value)) }
  func encode(_ value: Int32) throws { node.content = .value(.int(value)) }
  func encode(_ value: Int64) throws { node.content = .value(.int(value)) }
  func encode(_ value: UInt) throws { node.content = .value(.int(value)) }
  func encode(_ value: UInt8) throws { node.content = .value(.int(value)) }
  func encode(_ value: UInt16) throws { node.content = .value(.int(value)) }
  func encode(_ value: UInt32) throws { node.content = .value(.int(value)) }
  func encode(_ value: UInt64) throws { node.content = .value(.int(value)) }

  func encode(_ value: Double) throws {
    guard let number = JSONNumber(value) else {
      throw EncodingError.invalidValue(
        value,
        .init(codingPath: codingPath, debugDescription: "JSON has no number \(value)"))
    }
    node.content = .value(.number(number))
  }

  func encode<Value: Encodable>(_ value: Value) throws { try fill(value) }
}

/// The members of an object, in the order in which they are encoded.
private struct KeyedMembers<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) throws { try encoder(key).encodeNil() }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoder(key).fill(value)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoder(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    JSONValueEncoder(codingPath: codingPath, filling: node.member("super"))
  }

  func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }

  private func encoder(_ key: Key) -> JSONValueEncoder {
    JSONValueEncoder(codingPath: codingPath + [key], filling: node.member(key.stringValue))
  }
}

/// The elements of an array.
private struct UnkeyedElements: UnkeyedEncodingContainer {
  let node: EncodedNode
  let codingPath: [any CodingKey]

  var count: Int { node.count }

  func encodeNil() throws { try encoder().encodeNil() }

  func encode<Value: Encodable>(_ value: Value) throws { try encoder().fill(value) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    encoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }

  func superEncoder() -> any Encoder { encoder() }

  private func encoder() -> JSONValueEncoder {
    JSONValueEncoder(codingPath: codingPath + [JSONIndex(count)], filling: node.element())
  }
}
