package import WeftDefinition
package import WeftExpressions

/// A value that a loop provides to the expressions in it.
package enum LoopValue: Sendable, Hashable {
  case element
  /// The index of the element, from 0.
  case index
  /// The values of the axes, as an object.
  case combination
}

extension FanOut {
  /// The loop value that a reference reads, by its context `item`, `index`, `matrix` or the name that `as` defines;
  /// `nil` if it reads something else.
  ///
  /// If several loops enclose a text, the innermost with a value for the reference counts. Names are case-insensitive,
  /// like those of contexts.
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
  /// Whether the text is evaluated before there are elements: it does not see the loop of its own step or group, only
  /// enclosing ones.
  package var isBeforeElements: Bool {
    self == .name || makesElements
  }

  /// Whether it determines the elements or how many run at once; it reads the enclosing `env`, not that of its own step
  /// or group.
  package var makesElements: Bool {
    switch self {
    case .elements, .axis, .include, .exclude, .computed(.elementParallel): true
    default: false
    }
  }
}
