extension JSONWriter {
  package mutating func null() { plain("null") }

  package mutating func bool(_ value: Bool) { plain(value ? "true" : "false") }

  package mutating func string(_ value: String) { putQuoted(value) }

  /// Writes text of unknown origin: invalid UTF-8 becomes U+FFFD.
  package mutating func string(decoding bytes: some Collection<UInt8>) {
    string(String(decoding: bytes, as: UTF8.self))
  }

  package mutating func int(_ value: Int) {
    var rest = value.magnitude
    let digits = JSONWriter.digitCount(of: rest)
    putNext(atMost: digits + 1) { target in
      target[0] = UInt8(ascii: "-")
      let end = digits + (value < 0 ? 1 : 0)
      for place in 1...digits {
        target[end - place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      return end
    }
  }

  private static func digitCount(of value: UInt) -> Int {
    var count = 1
    var bound: UInt = 10
    while value >= bound, count < 20 {
      count += 1
      bound = bound.multipliedReportingOverflow(by: 10).partialValue
    }
    return count
  }

  /// Writes the shortest text that reads back as the same `Double`, whole numbers without a point. Infinities and NaN,
  /// which JSON does not have, become `null`.
  package mutating func double(_ value: Double) {
    raw(value.isFinite ? JSONNumber.text(of: value) : "null")
  }

  package mutating func number(_ value: JSONNumber) { raw(value.text) }

  /// Writes a value that is already JSON, unchecked.
  package mutating func raw(_ json: some Collection<UInt8>) {
    let bytes = Array(json)
    putNext(atMost: bytes.count) { target in
      for (index, byte) in bytes.enumerated() { target[index] = byte }
      return bytes.count
    }
  }

  private mutating func raw(_ text: String) {
    lendBytes(of: text) { bytes in
      putNext(atMost: bytes.count) { target in
        guard let source = bytes.baseAddress else { return 0 }
        target.update(from: source, count: bytes.count)
        return bytes.count
      }
    }
  }

  /// Writes any value; recurses as deep as the value is nested.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .number(let value): number(value)
    case .string(let value): string(value)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        key(member.key)
        self.value(member.value)
      }
      endObject()
    }
  }

  // MARK: Shorthands for members

  package mutating func member(_ key: StaticString, _ value: String) {
    self.key(key)
    string(value)
  }

  package mutating func member(_ key: StaticString, _ value: Int) {
    self.key(key)
    int(value)
  }

  package mutating func member(_ key: StaticString, _ value: Bool) {
    self.key(key)
    bool(value)
  }

  private mutating func plain(_ word: StaticString) {
    let length = word.utf8CodeUnitCount
    putNext(atMost: length) { target in
      target.update(from: word.utf8Start, count: length)
      return length
    }
  }
}
