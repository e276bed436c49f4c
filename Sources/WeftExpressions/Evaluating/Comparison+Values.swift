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
