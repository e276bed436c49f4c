import WeftExpressions
import WeftJSON

/// One axis of a matrix.
struct MatrixAxis: Sendable {
  let name: String
  let values: [JSONValue]
  /// The text of each value in a key.
  let texts: [String]

  init(_ axis: MatrixExpansion.Axis) throws(MatrixProblem) {
    guard case .array(let values) = axis.values else {
      throw .axisIsNoArray(axis.name, found: ExpressionValue(axis.values).kindName)
    }
    name = axis.name
    self.values = values
    texts = values.map(MatrixAxis.text)
  }

  static func text(of value: JSONValue) -> String {
    ExpressionValue(value).primitiveText ?? value.description
  }
}

/// An entry of `include` or `exclude`: the combinations it matches, and the members it adds.
struct MatrixEntry: Sendable {
  /// The axes that it names, and whether each of their values matches.
  private var meant: [(axis: Int, values: [Bool])] = []
  /// The members that name no axis, in order.
  private(set) var added: [(String, JSONValue)] = []
  /// All its members, axes first.
  private(set) var members: [(String, JSONValue)] = []

  static func all(
    of value: JSONValue?, _ list: MatrixProblem.List, over axes: [MatrixAxis]
  ) throws(MatrixProblem) -> [MatrixEntry] {
    guard let value else { return [] }
    guard case .array(let elements) = value else {
      throw .listIsNoArray(list, found: ExpressionValue(value).kindName)
    }
    // A name matches an axis as it does in an expression.
    let places = ExpressionObject(
      axes.enumerated().map { .init(key: $1.name, value: .number(Double($0))) })
    var entries: [MatrixEntry] = []
    for (index, element) in elements.enumerated() {
      entries.append(try MatrixEntry(element, list, index, places, axes))
    }
    return entries
  }

  private init(
    _ value: JSONValue, _ list: MatrixProblem.List, _ index: Int, _ places: ExpressionObject,
    _ axes: [MatrixAxis]
  ) throws(MatrixProblem) {
    guard case .object(let object) = value else {
      throw .entryIsNoObject(list, index, found: ExpressionValue(value).kindName)
    }
    guard !object.isEmpty else { throw .entryIsEmpty(list, index) }
    for member in object {
      guard case .number(let place)? = places[member.key] else {
        if list == .exclude {
          throw .excludesUnknown(member.key, index, axes: axes.map(\.name))
        }
        added.append((member.key, member.value))
        continue
      }
      members.append((member.key, member.value))
      let axis = Int(place)
      meant.append((axis, axes[axis].values.map { $0.has(member.value) }))
    }
    members += added
  }

  func matches(_ choices: [Int]) -> Bool {
    meant.allSatisfy { $0.values[choices[$0.axis]] }
  }
}

extension JSONValue {
  /// Whether everything in `part` is also here, at the same position and equal by `==` of expressions, as GitHub
  /// compares. An object may have further members.
  fileprivate func has(_ part: JSONValue) -> Bool {
    ExpressionValue(self).has(part)
  }
}

extension ExpressionValue {
  fileprivate func has(_ part: JSONValue) -> Bool {
    switch part {
    case .object(let members): members.allSatisfy { value(at: .string($0.key)).has($0.value) }
    case .array(let elements):
      elements.enumerated().allSatisfy { value(at: .number(Double($0))).has($1) }
    case .null, .bool, .number, .string: isEqual(to: ExpressionValue(part))
    }
  }
}
