import WeftDefinition

extension StepControl {
  /// Visits the texts that may contain expressions; those of cleanup steps belong to those steps.
  func visitTexts(_ visit: (TextSite, String) -> Void) {
    if let condition { visit(.condition, condition.text) }
    for (index, policy) in retry.enumerated() {
      if let condition = policy.condition { visit(.retryCondition(index), condition.text) }
    }
    switch fanOut {
    case .forEach(let loop):
      loop.elements.computedText.map { visit(.elements, $0) }
      if let key = loop.key { visit(.elementKey, key.text) }
    case .matrix(let matrix): matrix.visitTexts(visit)
    case nil: break
    }
  }
}

extension Matrix {
  fileprivate func visitTexts(_ visit: (TextSite, String) -> Void) {
    for axis in axes { axis.values.computedText.map { visit(.axis(axis.name), $0) } }
    include?.computedText.map { visit(.include, $0) }
    exclude?.computedText.map { visit(.exclude, $0) }
  }
}

extension Listing {
  /// The text of a computed listing; `nil` for a literal one.
  fileprivate var computedText: String? {
    guard case .computed(let condition) = self else { return nil }
    return condition.text
  }
}

extension TextSite {
  /// Whether the text is an expression, with or without `${{` and `}}` around it.
  var isBare: Bool {
    switch self {
    case .condition, .retryCondition, .elementKey: true
    case .http(let site): site.isBare
    default: false
    }
  }

  /// Whether the text must be exactly one expression.
  var isAlone: Bool {
    switch self {
    case .elements, .axis, .include, .exclude, .waiting, .computed: true
    default: false
    }
  }
}
