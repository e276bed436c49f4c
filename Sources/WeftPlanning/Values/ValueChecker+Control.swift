import WeftDefinition
import WeftExpressions

/// Checks the values of texts that decide whether and how often a step runs.
extension ValueChecker {
  /// Reports conditions that are always true, or always false; a literal `true` or `false` is intended.
  mutating func checkTruth(of reading: ValueNames.Knowledge, _ text: PlannedText) {
    guard let expression = text.template.onlyExpression else { return }
    if case .literal(.boolean) = expression.root.form { return }
    for truth in [true, false] where reading.type.narrowed(to: !truth) == nil {
      let isText = reading.type.alternatives.allSatisfy(\.isString)
      let found = isText ? truth ? "a non-empty string" : "an empty string" : reading.type.name
      report(.decidesNothing(text.site, truth, found: found), text, expression.root.range)
    }
  }

  mutating func checkKind(of reading: ValueNames.Knowledge, _ text: PlannedText) {
    let (wanted, fits) = text.site.wantedKind
    if !reading.type.alternatives.contains(where: fits) {
      let isText = reading.type.alternatives.allSatisfy(\.isString)
      let help =
        text.site.isList && isText
        ? "parse JSON with fromJSON: \"${{ "
          + "fromJSON(\(text.template.onlyExpression?.text ?? "…")) }}\""
        : nil
      report(
        .wrongType(found: reading.type.name, wanted: wanted, in: text.site, help: help), text, nil)
    }
    // Keys of elements are part of addresses, which are not secret.
    if text.site == .elements, reading.isSecret, reading.type.alternatives.allSatisfy(\.isObject) {
      report(.secretKeys, text, nil)
    }
  }
}

extension TextSite {
  fileprivate var isList: Bool {
    switch self {
    case .elements, .axis, .include, .exclude: true
    default: false
    }
  }

  fileprivate var wantedKind: (String, (ExpressionType) -> Bool) {
    switch self {
    case .elements: ("an array or an object", { $0 == .any || $0.isArray || $0.isObject })
    case .elementKey: ("a string or a number", { $0 == .any || $0 == .number || $0.isString })
    case .waiting: ("a duration like \"30s\", or a time", { $0 == .any || $0.isString })
    default: ("an array", { $0 == .any || $0.isArray })
    }
  }
}

extension ExpressionType {
  fileprivate var isArray: Bool { if case .array = self { true } else { false } }
  fileprivate var isObject: Bool { if case .object = self { true } else { false } }
  fileprivate var isString: Bool { if case .string = self { true } else { false } }
}
