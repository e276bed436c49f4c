/// A JSON value that is independent of any text.
///
/// Strings and keys compare and hash by Unicode scalars, not by canonical equivalence as `String` does: `é` as one
/// scalar and `é` as two are different values, as they are in JSON.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue: Hashable {
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): hasher.combine(ScalarString(value))
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSONValue {
  /// Copies a value out of its text. If a key is repeated, the last value counts; unreadable values become `null`.
  package init(_ node: JSONNode) {
    switch node.kind {
    case .null, .unreadable: self = .null
    case .bool: self = .bool(node.boolValue ?? false)
    case .number: self = node.numberValue.map(JSONValue.number) ?? .null
    case .string: self = .string(node.stringValue ?? "")
    case .array: self = .array(node.elements.map(JSONValue.init))
    case .object:
      var object = JSONObject()
      for member in node.members {
        object[member.key.stringValue ?? ""] = JSONValue(member.value)
      }
      self = .object(object)
    }
  }

  /// A whole number.
  public static func int(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }

  /// A member of an object; `nil` for other kinds.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let object) = self else { return nil }
    return object[key]
  }

  /// An element of an array; `nil` outside its bounds and for other kinds.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON.
  public var description: String {
    var writer = JSONWriter()
    writer.value(self)
    return writer.text
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByFloatLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .int(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Traps on a literal that is not finite, a programming error.
  public init(floatLiteral value: Double) {
    guard let number = JSONNumber(value) else { preconditionFailure("not finite: \(value)") }
    self = .number(number)
  }

  /// Creates an object. If a key is repeated, the last value counts.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(JSONObject(members))
  }
}

/// The members of a JSON object: each key once, in the order in which they were first set.
///
/// Keys are compared by their Unicode scalars. Two objects are equal if they have the same members; the order is kept
/// for writing, but has no meaning (RFC 8259 §4).
public struct JSONObject: Sendable {
  /// A key and its value.
  public struct Member: Sendable, Hashable {
    public let key: String
    public var value: JSONValue

    public init(key: String, value: JSONValue) {
      self.key = key
      self.value = value
    }

    public static func == (left: Member, right: Member) -> Bool {
      left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(ScalarString(key))
      hasher.combine(value)
    }
  }

  /// The number of members up to which a linear search is faster than hashing.
  private static let indexedCount = 12

  public private(set) var members: [Member] = []
  /// The index of each key; empty while there are few members.
  private var places: [ScalarString: Int] = [:]

  public init() {}

  /// Creates an object. If a key is repeated, the last value counts, at the position of the first.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (key, value) in members { self[key] = value }
  }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }

  /// Setting `nil` removes the member.
  public subscript(key: String) -> JSONValue? {
    get { place(of: key).map { members[$0].value } }
    set {
      guard let newValue else { return remove(key) }
      if let place = place(of: key) {
        members[place].value = newValue
      } else {
        append(Member(key: key, value: newValue))
      }
    }
  }

  private func place(of key: String) -> Int? {
    guard places.isEmpty else { return places[ScalarString(key)] }
    return members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
  }

  private mutating func append(_ member: Member) {
    members.append(member)
    if !places.isEmpty {
      places[ScalarString(member.key)] = members.count - 1
    } else if members.count > JSONObject.indexedCount {
      reindex()
    }
  }

  private mutating func remove(_ key: String) {
    guard let place = place(of: key) else { return }
    members.remove(at: place)
    places = [:]
    if members.count > JSONObject.indexedCount { reindex() }
  }

  private mutating func reindex() {
    for (place, member) in members.enumerated() { places[ScalarString(member.key)] = place }
  }
}

extension JSONObject: Hashable {
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
  }

  /// Independent of the order of the members.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for member in members { sum &+= member.hashValue }
    hasher.combine(sum)
  }
}

extension JSONObject: Sequence {
  public func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }
}

/// A string compared by Unicode scalars, for use as a dictionary key.
package struct ScalarString: Sendable {
  package let string: String

  package init(_ string: String) { self.string = string }
}

extension ScalarString: Hashable {
  package static func == (left: ScalarString, right: ScalarString) -> Bool {
    left.string.utf8.elementsEqual(right.string.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var copy = string
    copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(UInt8(0xFF))
  }
}
