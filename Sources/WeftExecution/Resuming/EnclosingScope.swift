import WeftDefinition
import WeftExpressions
import WeftPlanning

/// A group or loop around a step, with the instance that contains it.
struct EnclosingScope {
  let member: PlanMember
  /// Whether it is the loop with all its elements, and not a group, which may be one of them.
  let isLoop: Bool
  /// The instance that contains the group or loop.
  let instance: Instance
  let address: StepAddress

  init(group index: Int, _ instance: Instance, _ address: StepAddress) {
    (member, isLoop, self.instance, self.address) = (.group(index), false, instance, address)
  }

  init(loop member: PlanMember, _ instance: Instance, _ address: StepAddress) {
    (self.member, isLoop, self.instance, self.address) = (member, true, instance, address)
  }

  init(_ task: GroupTask) { self.init(group: task.index, task.instance, task.address) }

  init(_ task: LoopTask) { self.init(loop: task.member, task.instance, task.address) }
}

/// The groups and loops around a step or group.
extension ResumePolicy {
  /// The groups around a group and the group itself, and the loops around them, from the innermost outwards.
  ///
  /// - Parameter instance: An instance that contains the group.
  func enclosingScopes(ofGroup group: Int, in instance: Instance) -> [EnclosingScope] {
    var found: [EnclosingScope] = []
    var (group, instance) = (group, instance)
    while true {
      // The groups outside the instance's region are in its parent.
      while !instance.region.groups.contains(group), let parent = instance.parent {
        if case .element = instance.kind, let node = instance.region.memberNode {
          let address = parent.address(of: plan.address(of: node))
          found.append(EnclosingScope(loop: PlanMember(at: node, of: plan), parent, address))
        }
        instance = parent
      }
      guard group > 0 else { break }
      if let address = plan.groups[group].address, !plan.groups[group].isTopLevel {
        found.append(EnclosingScope(group: group, instance, instance.address(of: address)))
      }
      group = plan.groups[group].parent ?? 0
    }
    return found
  }

  /// An instance that contains a recorded step: the run, or the element of each loop around it, as its address names them.
  func instance(around address: StepAddress) -> Instance {
    guard let element = address.innermostElement, let loop = element.loop,
      case .element(let key)? = element.parts?.last
    else { return outermost }
    guard let member = addresses.member(at: loop) else { return instance(around: loop) }
    let region = PlanRegion(member, of: plan)
    let known = Element(source: .matrix, index: 0, key: key, value: .null, isSecret: false)
    let inner = Instance(unnumbered: .element(known), of: region, in: instance(around: loop))
    // As the engine opens one for each attempt of a group.
    guard case .group(let index) = member,
      plan.groups[index].step?.control.retry.isEmpty == false
    else { return inner }
    return Instance(unnumbered: .attempt(1), of: region, in: inner)
  }

  func enclosingScopes(of inner: EnclosingScope) -> [EnclosingScope] {
    let node = plan.node(of: inner.member)
    return enclosingScopes(ofGroup: plan.group(around: node), in: inner.instance)
  }
}

extension Instance {
  /// The innermost instance around this one, or itself, that contains a node of the plan.
  func around(_ node: Plan.NodeIndex) -> Instance {
    var instance = self
    while !instance.region.nodes.contains(node), let parent = instance.parent { instance = parent }
    return instance
  }
}

extension Plan {
  /// The direct dependents of each node.
  var dependents: [Int: [Int]] {
    var dependents: [Int: [Int]] = [:]
    for node in nodes.indices {
      for need in dependencies[node] { dependents[Int(need), default: []].append(node) }
    }
    return dependents
  }
}
