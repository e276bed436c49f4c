package import WeftJSON

/// The value of an expression.
///
/// Arrays and objects are classes because they are compared by identity, as in GitHub Actions: `steps.a == steps.a` is
/// true, but two equal texts parsed by `fromJSON` are not equal.
package enum ExpressionValue: Sendable {
  case null
  case boolean(Bool)
  case number(ExpressionNumber)
  case string(String)
  case array(ExpressionArray)
  case object(ExpressionObject)
}

/// Coercions: ECMAScript's, except that arrays and objects never become primitives.
extension ExpressionValue {
  /// Whether the value is truthy: anything but `null`, `false`, 0, NaN and the empty string.
  package var isTruthy: Bool {
    switch self {
    case .null: false
    case .boolean(let value): value
    case .number(let number): !number.isZero && !number.isNaN
    case .string(let text): !text.isEmpty
    case .array, .object: true
    }
  }

  /// The value as a number; NaN for arrays, objects, and strings that are not numbers.
  package var asNumber: ExpressionNumber {
    switch self {
    case .null: ExpressionNumber(0)
    case .boolean(let value): ExpressionNumber(value ? 1 : 0)
    case .number(let number): number
    case .string(let text): ExpressionNumber(reading: text)
    case .array, .object: ExpressionNumber(.nan)
    }
  }

  /// The text of a primitive; `nil` for arrays and objects.
  package var primitiveText: String? {
    switch self {
    case .null: ""
    case .boolean(let value): value ? "true" : "false"
    case .number(let number): number.text
    case .string(let text): text
    case .array, .object: nil
    }
  }

  /// The value as part of a string; arrays and objects yield only the name of their kind.
  package var text: String {
    switch self {
    case .array: "Array"
    case .object: "Object"
    case .null, .boolean, .number, .string: primitiveText ?? ""
    }
  }

  /// The name of its kind in messages.
  package var kindName: String {
    switch self {
    case .null: "null"
    case .boolean: "a boolean"
    case .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension ExpressionValue {
  /// A number.
  package static func number(_ value: Double) -> ExpressionValue {
    .number(ExpressionNumber(value))
  }

  /// An array of values.
  package static func array(_ elements: [ExpressionValue]) -> ExpressionValue {
    .array(ExpressionArray(elements))
  }

  /// An object; if keys have the same spelling, the first counts.
  package static func object(_ members: [(String, ExpressionValue)]) -> ExpressionValue {
    .object(ExpressionObject(members.map { .init(key: $0.0, value: $0.1) }))
  }
}

/// Values in order.
package final class ExpressionArray: Sendable {
  package let elements: [ExpressionValue]
  /// Whether it is the result of the filter `*`: accesses apply to each element.
  package let isFiltered: Bool

  package init(_ elements: [ExpressionValue], isFiltered: Bool = false) {
    self.elements = elements
    self.isFiltered = isFiltered
  }
}

/// Values by name, in order.
///
/// A name matches the member with the same spelling, or else the first that differs only in case. (GitHub Actions drops
/// members that differ from an earlier one only in case.)
package final class ExpressionObject: Sendable {
  package struct Member: Sendable {
    package let key: String
    package let value: ExpressionValue

    package init(key: String, value: ExpressionValue) {
      self.key = key
      self.value = value
    }
  }

  /// The number of members up to which a linear search is faster than hashing.
  private static let indexedCount = 12

  package let members: [Member]
  /// The first member of each folded key; empty while there are few members.
  private let places: [ScalarString: Int]
  /// The first member of each further spelling of a folded key.
  private let otherSpellings: [ScalarString: Int]

  package init(_ members: [Member]) {
    self.members = members
    var places: [ScalarString: Int] = [:]
    var others: [ScalarString: Int] = [:]
    if members.count > ExpressionObject.indexedCount {
      for (place, member) in members.enumerated() {
        let folded = ScalarString(FoldedText.folded(member.key))
        guard let first = places[folded] else {
          places[folded] = place
          continue
        }
        let spelling = ScalarString(member.key)
        guard spelling != ScalarString(members[first].key), others[spelling] == nil else {
          continue
        }
        others[spelling] = place
      }
    }
    self.places = places
    self.otherSpellings = others
  }

  package subscript(key: String) -> ExpressionValue? {
    guard places.isEmpty else {
      let place = otherSpellings.isEmpty ? nil : otherSpellings[ScalarString(key)]
      return (place ?? places[ScalarString(FoldedText.folded(key))]).map { members[$0].value }
    }
    return members.withUnsafeBufferPointer { members in
      var similar: Int?
      for place in members.indices where FoldedText.areEqual(members[place].key, key) {
        if members[place].key.utf8.elementsEqual(key.utf8) { return members[place].value }
        if similar == nil { similar = place }
      }
      return similar.map { members[$0].value }
    }
  }
}

/// Access to the contents of values.
extension ExpressionValue {
  /// The value at an index; `null` if there is none. On the result of a filter, the index applies to each element, and
  /// the values found form an array again.
  package func value(at index: ExpressionValue) -> ExpressionValue {
    switch self {
    case .array(let array) where array.isFiltered: array.found(at: index)
    case .array, .object: found(at: index) ?? .null
    case .null, .boolean, .number, .string: .null
    }
  }

  /// All elements of an array or values of an object; empty for other values.
  var filtered: ExpressionValue {
    switch self {
    case .array(let array) where array.isFiltered:
      .filtered(array.elements.flatMap { $0.elements })
    case .null, .boolean, .number, .string, .array, .object: .filtered(elements)
    }
  }

  private var elements: [ExpressionValue] {
    switch self {
    case .array(let array): array.elements
    case .object(let object): object.members.map(\.value)
    case .null, .boolean, .number, .string: []
    }
  }

  fileprivate func found(at index: ExpressionValue) -> ExpressionValue? {
    switch self {
    case .array(let array):
      guard let place = index.place, place < array.elements.count else { return nil }
      return array.elements[place]
    case .object(let object):
      return index.primitiveText.flatMap { object[$0] }
    case .null, .boolean, .number, .string: return nil
    }
  }

  /// The value as an array index: a number from 0 on, truncated.
  private var place: Int? {
    let number = asNumber.value
    guard number >= 0, number < Double(Int32.max) else { return nil }
    return Int(number)
  }

  fileprivate static func filtered(_ elements: [ExpressionValue]) -> ExpressionValue {
    .array(ExpressionArray(elements, isFiltered: true))
  }
}

extension ExpressionArray {
  fileprivate func found(at index: ExpressionValue) -> ExpressionValue {
    .filtered(elements.compactMap { $0.found(at: index) })
  }
}

/// ECMAScript's abstract comparison (ECMA-262 5.1 §11.8.5, §11.9.3), except that strings are compared
/// case-insensitively, and arrays and objects are equal only to themselves.
extension Comparison {
  func holds(_ left: ExpressionValue, _ right: ExpressionValue) -> Bool {
    switch self {
    case .equal: left.isEqual(to: right)
    case .notEqual: !left.isEqual(to: right)
    case .less: left.isLess(than: right)
    case .greater: right.isLess(than: left)
    case .lessOrEqual: left.isEqual(to: right) || left.isLess(than: right)
    case .greaterOrEqual: left.isEqual(to: right) || right.isLess(than: left)
    }
  }
}

extension ExpressionValue {
  /// Compares like `==` in an expression.
  package func isEqual(to other: ExpressionValue) -> Bool {
    switch (self, other) {
    case (.string(let left), .string(let right)): FoldedText.areEqual(left, right)
    case (.null, .null): true
    case (.array(let left), .array(let right)): left === right
    case (.object(let left), .object(let right)): left === right
    case (.array, _), (.object, _), (_, .array), (_, .object): false
    case (.null, _), (.boolean, _), (.number, _), (.string, _): asNumber == other.asNumber
    }
  }

  fileprivate func isLess(than other: ExpressionValue) -> Bool {
    switch (self, other) {
    case (.string(let left), .string(let right)): FoldedText.isLess(left, right)
    case (.null, .null), (.array, _), (.object, _), (_, .array), (_, .object): false
    case (.null, _), (.boolean, _), (.number, _), (.string, _): asNumber < other.asNumber
    }
  }
}

extension ExpressionValue {
  package init(_ value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool(let value): self = .boolean(value)
    case .number(let number): self = .number(ExpressionNumber(number))
    case .string(let text): self = .string(text)
    case .array(let elements): self = .array(elements.map { ExpressionValue($0) })
    case .object(let members):
      self = .object(
        ExpressionObject(members.map { .init(key: $0.key, value: ExpressionValue($0.value)) }))
    }
  }

  /// The value as JSON; NaN and infinities, which JSON does not have, become `null`.
  package var json: JSONValue {
    switch self {
    case .null: .null
    case .boolean(let value): .bool(value)
    case .number(let number): number.json.map(JSONValue.number) ?? .null
    case .string(let text): .string(text)
    case .array(let array): .array(array.elements.map(\.json))
    case .object(let object):
      .object(JSONObject(object.members.map { ($0.key, $0.value.json) }))
    }
  }

  /// The value as JSON text, as ECMAScript writes it: with line breaks and two spaces for each level, or on one line.
  package func jsonText(_ style: JSONWriter.Style) -> String {
    var writer = JSONWriter(style)
    write(to: &writer)
    return writer.text
  }

  private func write(to writer: inout JSONWriter) {
    switch self {
    case .null: writer.null()
    case .boolean(let value): writer.bool(value)
    case .number(let number):
      if let number = number.json { writer.number(number) } else { writer.null() }
    case .string(let text): writer.string(text)
    case .array(let array):
      writer.beginArray()
      for element in array.elements { element.write(to: &writer) }
      writer.endArray()
    case .object(let object):
      writer.beginObject()
      for member in object.members {
        writer.key(member.key)
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}
