extension ExpressionType {
  /// The type narrowed to truthy or falsy values; `nil` if there are none.
  package func narrowed(to truth: Bool) -> ExpressionType? {
    let left = alternatives.compactMap { $0.singleNarrowed(to: truth) }
    return left.isEmpty ? nil : .union(left)
  }

  private func singleNarrowed(to truth: Bool) -> ExpressionType? {
    switch self {
    case .any, .boolean, .number, .either: return self
    case .null: return truth ? nil : self
    case .array, .object: return truth ? self : nil
    case .string(let values):
      guard truth else {
        return values.map { $0.contains("") } ?? true ? .string(values: [""]) : nil
      }
      guard let values else { return self }
      let left = values.filter { !$0.isEmpty }
      return left.isEmpty ? nil : .string(values: left)
    }
  }

  /// Whether values of these types can ever be equal under the coercions of `==`.
  func canEqual(_ other: ExpressionType) -> Bool {
    alternatives.contains { left in other.alternatives.contains { left.canEqualSingle($0) } }
  }

  private func canEqualSingle(_ other: ExpressionType) -> Bool {
    switch (self, other) {
    case (.any, _), (_, .any), (.array, .array), (.object, .object): return true
    case (.array, _), (_, .array), (.object, _), (_, .object): return false
    case (.string(let left), .string(let right)):
      guard let left, let right else { return true }
      return left.contains { text in right.contains { FoldedText.areEqual(text, $0) } }
    default:
      guard let left = numbers, let right = other.numbers else {
        return numbers?.isEmpty != true && other.numbers?.isEmpty != true
      }
      return left.contains { right.contains($0) }
    }
  }

  /// All numbers to which the values can be coerced; `nil` if there are too many to list.
  private var numbers: [Double]? {
    switch self {
    case .null: [0]
    case .boolean: [0, 1]
    case .string(let values): values?.map { NumberReading.number(from: $0) }.filter { !$0.isNaN }
    case .any, .number, .array, .object, .either: nil
    }
  }
}
