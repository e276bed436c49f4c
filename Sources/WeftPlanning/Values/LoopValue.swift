package import WeftDefinition
package import WeftExpressions

/// What one round of a `forEach` or `matrix` gives to the expressions in it.
package enum LoopValue: Sendable, Hashable {
  case element
  /// Which element it is, from 0.
  case index
  /// An object: the values of the axes.
  case combination
}

extension FanOut {
  /// What a reference reads of it, be its context `item`, `index`, `matrix` or the name that `as` gives;
  /// `nil` if it reads something else.
  ///
  /// Of several around a text the innermost that a reference reads something of is meant. Names are found
  /// regardless of upper and lower case, as those of contexts are.
  package func value(of reference: ContextReference) -> LoopValue? {
    switch (self, reference.valueContext) {
    case (.forEach, .item): .element
    case (.forEach, .index): .index
    case (.matrix, .matrix): .combination
    case (.forEach(let loop), nil):
      loop.name.map { reference.isOfContext($0) } == true ? .element : nil
    default: nil
    }
  }
}

extension TextSite {
  /// Whether the text is read before there are elements: it sees only what is around the `forEach` or
  /// `matrix` of its own step or group.
  package var isBeforeElements: Bool {
    self == .name || makesElements
  }

  /// Whether it says what elements there are, or how many at once; it reads the `env` around, not that of
  /// its own step or group.
  package var makesElements: Bool {
    switch self {
    case .elements, .axis, .include, .exclude, .computed(.elementParallel): true
    default: false
    }
  }
}
