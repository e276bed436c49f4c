import WeftDefinition
import WeftExpressions
import WeftJSON

/// What is known of the elements of loops before there are any.
struct LoopKnowledge {
  /// A list that an expression comes to, or that is written out.
  private struct List: Hashable {
    var site: TextSite
    var owner: TextOwner
  }

  /// Of longer lists nothing is known.
  private static let longest = 100

  private var elements: [List: ValueNames.Knowledge] = [:]
  private var combinations: [TextOwner: ObjectType] = [:]

  /// Keeps what is known of a computed list.
  mutating func learn(_ site: TextSite, of owner: TextOwner, _ list: ValueNames.Knowledge) {
    var element = list
    element.type = (try? list.type.elementType) ?? .any
    elements[List(site: site, owner: owner)] = element
  }

  /// What any element of a list is.
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

  /// The values that `matrix` has: the axes, and what `include` adds.
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
      // It may bring any name, and any value of an axis.
      case .some: ObjectType(fields: axes.map { .init(name: $0.name, type: .any) }, rest: .any)
      }
    combinations[owner] = combination
    return combination
  }
}

extension ObjectType {
  fileprivate init(fields: [Field]) { self.init(fields: fields, rest: nil) }

  /// With the values of entries of `include`; a combination has only some of them.
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
      // One that becomes a combination of its own has no other axes than it names.
      guard fields.contains(where: { entry[$0.name] != nil }) || fields.isEmpty else { continue }
      for index in fields.indices where entry[fields[index].name] == nil {
        object.fields[index].type = object.fields[index].type.orNull
      }
    }
    return object
  }
}
