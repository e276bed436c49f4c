package import WeftDefinition
package import WeftExpressions
import WeftJSON

/// The known types of loop elements, before there are any.
struct LoopKnowledge {
  /// A computed or literal list.
  private struct List: Hashable {
    var site: TextSite
    var owner: TextOwner
  }

  /// The length above which nothing is known of a list.
  private static let longest = 100

  private var elements: [List: ValueNames.Knowledge] = [:]
  private var combinations: [TextOwner: ObjectType] = [:]

  /// Stores what is known of a computed list.
  mutating func learn(_ site: TextSite, of owner: TextOwner, _ list: ValueNames.Knowledge) {
    var element = list
    element.type = (try? list.type.elementType) ?? .any
    elements[List(site: site, owner: owner)] = element
  }

  /// Returns what is known of any element of a list.
  mutating func element(
    of listing: Listing, _ site: TextSite, _ owner: TextOwner
  ) -> ValueNames.Knowledge {
    let list = List(site: site, owner: owner)
    if let known = elements[list] { return known }
    guard case .values(let values) = listing else { return .unknown }
    let element = ValueNames.Knowledge(type: LoopKnowledge.elementType(of: values))
    elements[list] = element
    return element
  }

  private static func elementType(of values: JSONValue) -> ExpressionType {
    switch values {
    case .array(let elements) where elements.count > longest: .any
    case .object(let members) where members.count > longest: .any
    default: (try? ExpressionType(of: ExpressionValue(values)).elementType) ?? .any
    }
  }

  // MARK: Combinations

  /// The type of `matrix`: the axes, and the members that `include` adds.
  mutating func combination(of matrix: Matrix, _ owner: TextOwner) -> ObjectType {
    if let known = combinations[owner] { return known }
    let axes = matrix.axes.map { axis in
      ObjectType.Field(
        name: axis.name, type: element(of: axis.values, .axis(axis.name), owner).type)
    }
    let combination =
      switch matrix.include {
      case nil: ObjectType(fields: axes, rest: nil)
      case .values(.array(let entries)) where entries.count <= LoopKnowledge.longest:
        ObjectType(fields: axes).including(entries)
      // It may add any name, and any value of an axis.
      case .some: ObjectType(fields: axes.map { .init(name: $0.name, type: .any) }, rest: .any)
      }
    combinations[owner] = combination
    return combination
  }
}

extension ObjectType {
  fileprivate init(fields: [Field]) { self.init(fields: fields, rest: nil) }

  /// The type with the members of `include` entries; a combination has only some of them.
  fileprivate func including(_ entries: [JSONValue]) -> ObjectType {
    var object = self
    for case .object(let entry) in entries {
      for (name, value) in entry.members.map({ ($0.key, $0.value) }) {
        let type = ExpressionType(of: ExpressionValue(value))
        if let index = object.fields.firstIndex(where: { $0.name == name }) {
          object.fields[index].type = .union([object.fields[index].type, type])
        } else {
          object.fields.append(Field(name: name, type: type.orNull))
        }
      }
      // An entry that becomes a combination of its own only has the axes that it names.
      guard fields.contains(where: { entry[$0.name] != nil }) || fields.isEmpty else { continue }
      for index in fields.indices where entry[fields[index].name] == nil {
        object.fields[index].type = object.fields[index].type.orNull
      }
    }
    return object
  }
}

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
