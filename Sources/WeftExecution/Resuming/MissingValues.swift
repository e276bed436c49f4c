import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftPlanning

/// The steps and groups that succeeded and run again, because something that has yet to run reads a value of them that is
/// not recorded: it was secret, or too long.
///
/// A step that runs again reads values itself, and a group that is not done any more may have members that are not. So
/// the set is found by asking the policy of a smaller set again, until it does not grow.
struct MissingValues: Sendable {
  fileprivate(set) var addresses: Set<StepAddress> = []
  /// The groups among them, and the groups and loops that contain one of them: they are not done.
  fileprivate(set) var around: Set<StepAddress> = []
  /// The addresses of steps by their index in the plan.
  fileprivate var ofSteps: [Int: [StepAddress]] = [:]
}

extension ResumePolicy {
  convenience init(
    plan: Plan, recorded: RunState, rerunning: RerunSelection = RerunSelection()
  ) {
    var missing = MissingValues()
    if let incomplete = IncompleteRecords(plan, recorded) {
      let readers = ValueReaders(plan)
      var isGrowing = true
      while isGrowing {
        let policy = ResumePolicy(
          plan: plan, recorded: recorded, rerunning: rerunning, missing: missing)
        isGrowing = policy.add(incomplete, to: &missing, readers)
      }
    }
    self.init(plan: plan, recorded: recorded, rerunning: rerunning, missing: missing)
  }

  /// Adds the incomplete records of which this policy still needs the values.
  private func add(
    _ incomplete: IncompleteRecords, to missing: inout MissingValues, _ readers: ValueReaders
  ) -> Bool {
    let known = missing
    for (address, node) in incomplete.nodes where !known.addresses.contains(address) {
      guard readers[node].contains(where: { reads($0, address, known) }) else { continue }
      missing.addresses.insert(address)
      let member = PlanMember(at: node, of: plan)
      if case .step(let index) = member { missing.ofSteps[index, default: []].append(address) }
      let scopes = enclosingScopes(
        ofGroup: plan.innermostGroup(of: member), in: instance(around: address))
      missing.around.formUnion(scopes.map(\.address))
    }
    return missing.addresses.count > known.addresses.count
  }

  /// Whether a step or group that reads values of another has yet to run, as seen from the other's address.
  private func reads(
    _ reader: PlanMember, _ address: StepAddress, _ missing: MissingValues
  ) -> Bool {
    let instance = instance(around: address)
    switch reader {
    case .group(let index):
      let around = instance.around(plan.groups[index].startNode)
      return !areDone(around: index, in: around) || isRecomputed(group: index, in: around)
        || isListedAgain(.group(index), around)
    case .step(let index):
      let (node, group) = (plan.steps[index].node, plan.steps[index].group)
      let around = instance.around(node).element
      // Steps of `finally` run again with their file.
      if plan.isFinal(group), !areDone(around: group, in: instance.around(node)) { return true }
      return hasYetToRun(node, seenFrom: instance) || startsAgain(index, seenFrom: instance)
        || failedInUndoneGroup(index, in: instance.around(node))
        || isListedAgain(.step(index), instance.around(node))
        || missing.ofSteps[index, default: []].contains { around.map($0.isInside) ?? true }
    }
  }
}

extension ResumePolicy {
  /// Whether a step runs again, because something reads a value of it that is not recorded.
  func isMissing(_ index: Int, in instance: Instance) -> Bool {
    !missing.addresses.isEmpty
      && missing.addresses.contains(instance.address(of: plan.steps[index].address))
  }

  /// Whether a step failed, which a group around it tolerated, and runs again because a cleanup has undone the group.
  private func failedInUndoneGroup(_ index: Int, in instance: Instance) -> Bool {
    let step = recorded.steps[instance.address(of: plan.steps[index].address)]
    guard case .finished(let end, _)? = step?.state, end.conclusion != .success else {
      return false
    }
    return !areDone(around: plan.steps[index].group, in: instance)
  }

  fileprivate func isListedAgain(_ member: PlanMember, _ instance: Instance) -> Bool {
    plan.fanOut(of: member) != nil
      && isListedAgain(LoopTask(member, of: plan, in: instance, after: []))
  }
}

/// The recorded successes of steps and groups of which a value that others read is not recorded.
private struct IncompleteRecords {
  /// Each with its node in the plan, that of a group's start.
  private(set) var nodes: [(StepAddress, Plan.NodeIndex)] = []

  /// `nil` if there are none, as in most runs.
  init?(_ plan: Plan, _ recorded: RunState) {
    if plan.values.isEmpty { return nil }
    let read = plan.steps.indices.filter {
      !plan.values.readsOfOthers(ofNode: plan.steps[$0].node).isEmpty
    }
    let addresses = PlanAddresses(plan)
    func add(_ index: Int, _ address: StepAddress, _ step: RecordedStep) {
      let node = plan.steps[index].node
      guard case .finished(let end, let kept) = step.state, end.conclusion == .success,
        !kept.answers(plan.values.readsOfOthers(ofNode: node), end)
      else { return }
      nodes.append((address, node))
    }
    if read.contains(where: plan.isInLoop(step:)) {
      let read = Set(read)
      for (address, step) in recorded.steps {
        if let index = addresses.step(at: address), read.contains(index) {
          add(index, address, step)
        }
      }
    } else {
      for index in read {
        let address = plan.steps[index].address
        if let step = recorded.steps[address] { add(index, address, step) }
      }
    }
    for (address, group) in recorded.groups {
      guard let end = group.end, end.conclusion == .success,
        end.outputs.contains(where: { $0.value == nil }),
        let index = addresses.group(at: address), plan.groups[index].step != nil
      else { continue }
      nodes.append((address, plan.groups[index].startNode))
    }
    if nodes.isEmpty { return nil }
  }
}

/// The steps and groups whose expressions read values of others: of a group, its outputs, or what it evaluates at its
/// start.
struct ValueReaders {
  private var readers: [Plan.NodeIndex: [PlanMember]] = [:]

  init(_ plan: Plan) {
    for index in plan.steps.indices { add(.step(index), of: plan) }
    // The workflow itself is none: a secret output of the run is not shown anyway.
    for index in plan.groups.indices.dropFirst() {
      add(.group(index), of: plan)
      // A race has the outputs of a member, and a step that runs another file those of that file.
      let group = plan.groups[index]
      if group.order == .race || plan.file(runByGroup: index) != nil {
        for member in group.members { readers[Int(member), default: []].append(.group(index)) }
      }
    }
  }

  /// Those of a step or group, as its node or its start.
  subscript(node: Plan.NodeIndex) -> [PlanMember] { readers[node] ?? [] }

  private mutating func add(_ reader: PlanMember, of plan: Plan) {
    for text in plan.texts(of: reader) {
      for reference in text.template.expressions.flatMap(\.references) {
        var path = reference.names[...]
        // The members of a group, in its outputs.
        if reference.isOfContext("self"), path.count > 1 { path = path.dropFirst() }
        guard path.first?.text.lowercased() == StepField.members,
          let (node, _) = plan.values.node(named: Array(path), in: text.file)
        else { continue }
        readers[node, default: []].append(reader)
      }
    }
  }
}
