import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// The context `env`: the variables set by the layers around a text.
extension ValueNames {
  func variable(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    let layers = layers(read: site, of: owner)
    guard reference.names.count > 1 else {
      let isSecret = layers.contains { variables(of: $0).values.contains(where: \.isSecret) }
      return .value(Knowledge(type: .any, isSecret: isSecret))
    }
    let name = reference.names[1].text
    for layer in layers {
      guard let written = settings(of: layer).environment[name] else { continue }
      let known = variables(of: layer)[name] ?? Knowledge(type: written == nil ? .null : .string)
      return member(of: known, reference, from: 2)
    }
    if EnvironmentPolicy.isKept(name) { return .value(.unknown) }
    let known = EnvironmentName.essential.union(
      layers.flatMap { settings(of: $0).environment.keys })
    return .problem(
      .unknownVariable(
        name, isOfSameLayer: settings(of: owner).environment[name] != nil,
        nearest: NearestName(known.sorted()).nearest(to: name)), at: 1)
  }

  /// The layers that a text reads, innermost first. The value of a variable reads only layers outside of its own, and
  /// so do texts that determine elements, because their own layer may read the element.
  private func layers(read site: TextSite, of owner: TextOwner) -> [TextOwner] {
    var layers: [TextOwner]
    switch owner {
    case .workflow(let group), .group(let group): layers = chain(from: group)
    case .step(let index): layers = [.step(index)] + chain(from: outline.steps[index].group)
    }
    if site.isVariable || site.makesElements { layers.removeFirst() }
    return layers
  }

  private func chain(from group: Int) -> [TextOwner] {
    var chain: [TextOwner] = []
    var next: Int? = group
    while let index = next {
      chain.append(outline.owner(ofGroup: index))
      next = outline.groups[index].isTopLevel ? nil : outline.groups[index].parent
    }
    return chain
  }

  func settings(ofGroup index: Int) -> CommandSettings {
    settings(of: outline.owner(ofGroup: index))
  }

  private func settings(of layer: TextOwner) -> CommandSettings {
    switch layer {
    case .workflow(let group): outline.files[outline.groups[group].file].workflow.settings
    case .group(let index): outline.groups[index].step?.settings ?? CommandSettings()
    case .step(let index): outline.steps[index].settings
    }
  }
}

/// The known types of computed variables, by the layers that set them. Variables of a step are read only by that step,
/// and the texts of a step are checked in sequence, so only one step is kept at a time.
struct LayerVariables {
  private var ofGroups: [TextOwner: [String: ValueNames.Knowledge]] = [:]
  private var step: (owner: TextOwner, known: [String: ValueNames.Knowledge])?

  func known(of layer: TextOwner) -> [String: ValueNames.Knowledge] {
    if let step, step.owner == layer { return step.known }
    return ofGroups[layer] ?? [:]
  }

  mutating func learn(_ name: String, of owner: TextOwner, _ knowledge: ValueNames.Knowledge) {
    guard case .step = owner else {
      ofGroups[owner, default: [:]][name] = knowledge
      return
    }
    if step?.owner != owner { step = (owner, [:]) }
    step?.known[name] = knowledge
  }
}
