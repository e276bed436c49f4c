package import WeftDefinition
package import WeftExpressions
import WeftJSON
import WeftShell

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
    element.text = .any
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
    let element = ValueNames.Knowledge(
      type: LoopKnowledge.elementType(of: values), text: LoopKnowledge.elementText(of: values))
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

  private static func elementText(of values: JSONValue) -> ValueText {
    guard case .array(let elements) = values, elements.count <= longest else { return .any }
    return .common(
      elements.map { element in
        guard let text = ExpressionValue(element).primitiveText else { return .any }
        return ValueText.listed.union(ValueText(of: text))
      })
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

/// The loops around a text.
extension Outline {
  /// The innermost loop that provides what a reference reads, with its owner; `nil` if there is none.
  ///
  /// A cleanup step is also inside the loop of the step or group that it cleans up.
  func loop(
    giving reference: ContextReference, to site: TextSite, of owner: TextOwner
  ) -> (owner: TextOwner, value: LoopValue)? {
    var next: TextOwner? = owner
    if site.isBeforeElements { next = outer(owner) }
    while let layer = next {
      if let value = fanOut(of: layer)?.value(of: reference) { return (layer, value) }
      next = outer(layer)
    }
    return nil
  }

  /// The names that `as` gives the elements of the loops around a text.
  func elementNames(around owner: TextOwner) -> [String] {
    sequence(first: owner, next: outer).compactMap { layer in
      guard case .forEach(let loop) = fanOut(of: layer) else { return nil }
      return loop.name
    }
  }

  /// The loop of a step or group; `nil` if it has none.
  func fanOut(of owner: TextOwner) -> FanOut? {
    switch owner {
    case .workflow: return nil
    case .step(let index):
      return steps[index].hasControl ? steps[index].control.fanOut : nil
    case .group(let index):
      guard let step = groups[index].step, step.hasControl else { return nil }
      return step.control.fanOut
    }
  }

  /// The enclosing owner: the step or group that it cleans up, or else the group that contains it.
  func outer(_ owner: TextOwner) -> TextOwner? {
    switch owner {
    case .workflow: return nil
    case .step(let index):
      if let node = cleanedUp[Int32(index)] { return self.owner(at: node) }
      return self.owner(ofGroup: steps[index].group)
    case .group(let index): return groups[index].parent.map { self.owner(ofGroup: $0) }
    }
  }

  /// Whether the owner is a cleanup step of the step or group.
  func cleans(_ owner: TextOwner, upAfter node: Plan.NodeIndex) -> Bool {
    guard !cleanedUp.isEmpty, case .step(let index) = owner else { return false }
    return cleanedUp[Int32(index)] == node
  }

  func owner(at node: Plan.NodeIndex) -> TextOwner {
    switch nodes[node] {
    case .step(let index): .step(Int(index))
    case .groupStart(let index), .groupEnd(let index): owner(ofGroup: Int(index))
    }
  }

  /// The file that contains the owner's texts.
  func file(of owner: TextOwner) -> Int {
    switch owner {
    case .workflow(let index), .group(let index): groups[index].file
    case .step(let index): groups[steps[index].group].file
    }
  }

  /// The step, or the group by its start, whose outputs the owner declares; `nil` for the workflow that is planned.
  func producer(of owner: TextOwner) -> Plan.NodeIndex? {
    guard case .workflow(let index) = owner else { return node(of: owner) }
    return index == 0 ? nil : groups[index].startNode
  }

  /// The outputs that the owner declares.
  func outputs(of owner: TextOwner) -> [OutputDeclaration] {
    switch owner {
    case .workflow(let index): files[groups[index].file].workflow.outputs
    case .group(let index): groups[index].step?.outputs ?? []
    case .step(let index): steps[index].step.outputs
    }
  }

  /// The owner of a group's texts; for a top level, the workflow.
  func owner(ofGroup index: Int) -> TextOwner {
    groups[index].isTopLevel ? .workflow(index) : .group(index)
  }
}
