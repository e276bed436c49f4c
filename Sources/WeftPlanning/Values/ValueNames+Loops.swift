import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftJSON

/// The contexts `item`, `index` and `matrix`, and the names that `as` defines.
extension ValueNames {
  /// The meaning of a reference to a loop; `nil` if it is none.
  func loop(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning? {
    if let (loop, value) = outline.loop(giving: reference, to: site, of: owner) {
      switch value {
      case .index: return member(of: Knowledge(type: .number), reference, from: 1)
      case .element: return member(of: element(of: loop), reference, from: 1)
      case .combination: return combination(of: loop, reference)
      }
    }
    if isLoopValue(reference, of: owner) {
      return .problem(.beforeElements(reference.context, in: site), at: 0)
    }
    if let context = reference.valueContext {
      let hasOther = hasLoop(of: context == .matrix ? .item : .matrix, around: owner)
      return .problem(.outsideOfLoop(context, hasOther: hasOther), at: 0)
    }
    return elsewhere(reference).map { .problem($0, at: 0) }
  }

  /// The context `item` for the name that `as` gives the element of an enclosing loop.
  func loopContext(of reference: ContextReference, of owner: TextOwner) -> ValueContext? {
    isLoopValue(reference, of: owner) ? .item : nil
  }

  /// Whether any text of the same owner could read it.
  private func isLoopValue(_ reference: ContextReference, of owner: TextOwner) -> Bool {
    outline.loop(giving: reference, to: .condition, of: owner) != nil
  }

  private func hasLoop(of context: ValueContext, around owner: TextOwner) -> Bool {
    let name = ContextReference.Name(context.rawValue, .init(start: 0, end: 0))
    return isLoopValue(ContextReference([name]), of: owner)
  }

  /// The problem with a name that `as` gives the elements of a loop which does not enclose the reference.
  private func elsewhere(_ reference: ContextReference) -> ValueProblem? {
    for node in outline.nodes.indices {
      let owner: TextOwner? =
        switch outline.nodes[node] {
        case .step(let index): .step(Int(index))
        case .groupStart(let index): .group(Int(index))
        case .groupEnd: nil
        }
      guard let owner, outline.fanOut(of: owner)?.value(of: reference) != nil else { continue }
      let member = outline.member(at: node)
      return .elementOf(
        reference.context, of: member.address.text, hasID: member.step.id != nil)
    }
    return nil
  }

  // MARK: Elements

  private func element(of loop: TextOwner) -> Knowledge {
    guard case .forEach(let forEach) = outline.fanOut(of: loop) else { return .unknown }
    return loops.element(of: forEach.elements, .elements, loop)
  }

  private func combination(of loop: TextOwner, _ reference: ContextReference) -> Meaning {
    guard case .matrix(let matrix) = outline.fanOut(of: loop) else { return .value(.unknown) }
    let known = loops.combination(of: matrix, loop)
    guard reference.names.count > 1 else {
      return .value(Knowledge(type: .object(known)))
    }
    let name = reference.names[1].text
    guard let type = known.type(of: name) else {
      let names = known.fields.map(\.name)
      let address = outline.node(of: loop).map { outline.member(at: $0).address.text } ?? ""
      return .problem(
        .unknownMember(
          name, of: "the matrix of \"\(address)\"", known: names,
          nearest: NearestName(names).nearest(to: name)), at: 1)
    }
    return member(of: Knowledge(type: type), reference, from: 2)
  }
}
