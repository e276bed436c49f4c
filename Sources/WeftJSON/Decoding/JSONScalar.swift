/// A type that is decoded directly from a JSON value, without its own `Decodable` code.
protocol JSONScalar {
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
        "\(number.text) is \(error == .notInteger ? "no integer" : "out of range for \(type)")"
      throw .dataCorrupted(.init(codingPath: path, debugDescription: why))
    }
  }
}
