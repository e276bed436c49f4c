import WeftDefinition

/// The role of a step that runs at the end of something else, so that no other step can wait for it.
enum FinalizerScope: Sendable, Hashable {
  case finally
  /// A cleanup step of the step or group with this address.
  case cleanup(of: String)
}

extension Outline {
  /// The reason why a step or group runs too late to be named by another; `nil` if it does not.
  ///
  /// Steps in `finally` may name each other, and so may cleanup steps of the same step or group.
  ///
  /// - Parameter node: The node that names it; `nil` for the workflow.
  func afterwards(_ target: Plan.NodeIndex, to node: Plan.NodeIndex?) -> FinalizerScope? {
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

extension FinalizerScope {
  /// Describes the named step, for messages.
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
