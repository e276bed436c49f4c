extension JSONWriter {
  package mutating func null() { plain("null") }

  package mutating func bool(_ value: Bool) { plain(value ? "true" : "false") }

  package mutating func string(_ value: String) {
    separate()
    putQuoted(value)
  }

  /// Text of unknown origin: what is not UTF-8 in it becomes U+FFFD.
  package mutating func string(decoding bytes: some Collection<UInt8>) {
    string(String(decoding: bytes, as: UTF8.self))
  }

  package mutating func int(_ value: Int) {
    separate()
    putDigits(value)
  }

  /// The shortest text that reads back as the same `Double`, whole numbers without a point.
  /// Infinities and NaN, which JSON does not have, become `null`.
  package mutating func double(_ value: Double) {
    separate()
    put(value.isFinite ? JSONNumber.text(of: value) : "null")
  }

  package mutating func number(_ value: JSONNumber) {
    separate()
    put(value.text)
  }

  /// A value that is already JSON; it is taken as it is.
  package mutating func raw(_ json: some Collection<UInt8>) {
    separate()
    for byte in json { put(byte) }
  }

  /// Any value, recursively: as deep as the value is.
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

  // MARK: Members, for short

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
    separate()
    put(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }
}
