import WeftDefinition
import WeftPlanning

/// Scopes of frames, which exist while an element, an attempt or a file is run.
extension Scopes {
  /// Opens a scope, and after it those of groups.
  ///
  /// - Parameters:
  ///   - parent: The enclosing scope; `nil` for a detached scope.
  ///   - file: The scope of the file that contains it; `nil` for the file of the enclosing scope.
  ///   - addresses: Maps the plan's addresses of the groups to those in the frame.
  mutating func open(
    in parent: Int?, boundary: FailureBoundary, groups: Range<Int> = 0..<0,
    of plan: Plan,
    inFile file: Int? = nil, addresses: (StepAddress) -> StepAddress = { $0 }
  ) -> Int {
    let first: Int
    if let reused = unused.take(1 + groups.count) {
      first = reused
    } else {
      first = scopes.count
      for _ in 0...groups.count { scopes.append(Scope(parent: -1)) }
    }
    scopes[first] = Scope(parent: parent ?? -1)
    scopes[first].boundary = boundary
    scopes[first].file = file ?? scopes[max(parent ?? 0, 0)].file
    scopes[first].response =
      groups.first.map { response(inGroup: $0, of: plan) } ?? scopes[parent ?? 0].response
    for group in groups {
      let number = first + 1 + group - groups.lowerBound
      let around = plan.groups[group].parent ?? 0
      let parent = groups.contains(around) ? first + 1 + around - groups.lowerBound : first
      scopes[number] = Scope(of: group, in: plan, parent: parent)
      scopes[number].file = plan.groups[group].isTopLevel ? parent : scopes[parent].file
      scopes[number].address = plan.groups[group].address.map(addresses)
      scopes[number].response = response(inGroup: group, of: plan)
    }
    return first
  }

  /// The response to failures that the file of a group's members declares.
  func response(inGroup group: Int, of plan: Plan) -> FailureResponse {
    if let onFailure { return onFailure }
    let file = plan.file(runByGroup: group) ?? plan.groups[group].file
    return plan.files[file].workflow.onFailure
  }

  /// Releases scopes, whose numbers may then be reused.
  mutating func close(_ first: Int, groups: Range<Int> = 0..<0) {
    unused.put(first, length: 1 + groups.count)
  }
}

extension Scopes.Scope {
  init(of index: Int, in plan: Plan, parent: Int?) {
    let group = plan.groups[index]
    self.init(
      parent: parent ?? group.parent ?? -1, address: group.address,
      tolerance: group.step?.allowFailure ?? .none,
      boundary: group.endsEarly ? .waiting : .none)
  }
}
