import WeftDefinition

/// What runs when that around it has ended, so that nothing else can wait for it.
enum Afterwards: Sendable, Hashable {
  case finally
  /// Cleaning up after the step or group with the address.
  case cleanup(of: String)
}

extension Outline {
  /// Why a step, or the start of a group, comes too late for something else to name it; `nil` if it does not.
  ///
  /// What is done finally may name what is done finally, and a step that cleans up may name another that
  /// cleans up after the same.
  ///
  /// - Parameter node: Of what names it; `nil` is the workflow.
  func afterwards(_ target: Plan.NodeIndex, to node: Plan.NodeIndex?) -> Afterwards? {
    if case .step(let index) = nodes[target], !cleanedUp.isEmpty, let cleaned = cleanedUp[index] {
      if case .step(let reader)? = node.map({ nodes[$0] }), cleanedUp[reader] == cleaned {
        return nil
      }
      return .cleanup(of: member(at: cleaned).address.text)
    }
    guard let finally = files[file(of: target)].finally, contains(target, finally) else {
      return nil
    }
    if let node, contains(node, finally) { return nil }
    return .finally
  }

  private func contains(_ node: Plan.NodeIndex, _ group: Int) -> Bool {
    groups[group].startNode <= node && node <= groups[group].endNode
  }
}

extension Afterwards {
  /// What messages say of the one that is named.
  var reason: String {
    switch self {
    case .finally: "is done finally, when all else has ended"
    case .cleanup(let address): "cleans up after \"\(address)\""
    }
  }

  var help: String {
    switch self {
    case .finally: "move it into \"finally\" as well, or the other out of it"
    case .cleanup: "make it a step of its own that others can wait for"
    }
  }
}
