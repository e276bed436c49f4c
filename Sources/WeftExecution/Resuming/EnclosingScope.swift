import WeftDefinition
import WeftExpressions
import WeftPlanning

/// A group or loop around a step, with the instance that contains it.
struct EnclosingScope {
  enum Kind: Equatable {
    case group(Int)
    case fanOut(LoopTask.Member)
  }

  let kind: Kind
  /// The instance that contains the group or loop.
  let instance: Instance
  let address: StepAddress

  init(_ kind: Kind, _ instance: Instance, _ address: StepAddress) {
    (self.kind, self.instance, self.address) = (kind, instance, address)
  }

  init(_ task: LoopTask) { self.init(.fanOut(task.member), task.instance, task.address) }
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
        if case .element = instance.kind, let address = instance.region.address {
          found.append(
            EnclosingScope(
              .fanOut(instance.region.loopMember(in: plan)), parent, parent.address(of: address)
            ))
        }
        instance = parent
      }
      guard group > 0 else { break }
      if let address = plan.groups[group].address, !plan.groups[group].isTopLevel {
        found.append(EnclosingScope(.group(group), instance, instance.address(of: address)))
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
    let region: PlanRegion
    var isRetried = false
    if let step = addresses.step(at: loop) {
      region = PlanRegion(step: step, of: plan)
    } else if let group = addresses.group(at: loop) {
      region = PlanRegion(group: group, of: plan)
      isRetried = plan.groups[group].step?.control.retry.isEmpty == false
    } else {
      return instance(around: loop)
    }
    func inside(_ parent: Instance, _ kind: Instance.Kind) -> Instance {
      Instance(kind, of: region, in: parent, firstInstance: 0, firstScope: 0, scope: 0)
    }
    let known = Element(source: .matrix, index: 0, key: key, value: .null, isSecret: false)
    let member = inside(instance(around: loop), .element(known))
    // As the engine opens one for each attempt of a group.
    return isRetried ? inside(member, .attempt(1)) : member
  }

  func enclosingScopes(of inner: EnclosingScope) -> [EnclosingScope] {
    switch inner.kind {
    case .group(let index), .fanOut(.group(let index)):
      enclosingScopes(ofGroup: plan.groups[index].parent ?? 0, in: inner.instance)
    case .fanOut(.step(let index)):
      enclosingScopes(ofGroup: plan.steps[index].group, in: inner.instance)
    }
  }
}

extension PlanRegion {
  /// The loop whose element has this region.
  fileprivate func loopMember(in plan: Plan) -> LoopTask.Member {
    guard let member, case .groupStart(let group) = plan.nodes[member] else {
      return .step(steps.lowerBound)
    }
    return .group(Int(group))
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
