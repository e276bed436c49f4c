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
    let number = asNumber
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
