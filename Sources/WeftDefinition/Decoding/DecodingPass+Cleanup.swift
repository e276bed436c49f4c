import WeftDiagnostics
import WeftJSON

/// `cleanup` of a step and `finally` of the workflow: steps that run whatever the outcome.
extension DecodingPass {
  /// Reads one step, or several that run in order.
  mutating func cleanup(_ node: JSONNode) -> [Step] {
    var steps: [Step] = []
    inCleanup { pass in
      switch node.kind {
      case .array:
        if node.elements.isEmpty {
          pass.report(.emptyGroup(path: pass.path(Field("cleanup"))), at: node)
        }
        pass.read(node, "cleanup", into: &steps)
      case .string, .object:
        guard pass.count(node) else { return }
        pass.enter("cleanup")
        pass.step(node, into: &steps)
        pass.leave()
      default:
        pass.reportType(
          of: node, Field("cleanup"), wanted: "a step, or an array of steps",
          help: "write a script, or { \"run\": … }")
      }
    }
    return steps
  }

  /// Whether a cleanup step may have the key; if not, this is reported.
  mutating func mayStandInCleanup(
    _ key: StepKey, _ member: JSONMember, _ draft: inout ActionDraft
  ) -> Bool {
    switch key {
    case .needs, .cleanup, .forEach, .matrix, .cache: break
    // A missing action would only follow from this problem.
    case .steps, .parallel, .race, .workflow: draft.hasUnknownKey = true
    default: return true
    }
    report(.control(.keyInCleanup(key)), at: member.key)
    return false
  }

  mutating func finally(_ node: JSONNode) -> [Step] {
    guard node.kind == .array else {
      reportType(
        of: node, Field("finally"), wanted: "an array of steps",
        help: node.kind == .string || node.kind == .object ? "put it into brackets: [ … ]" : nil)
      return []
    }
    if node.elements.isEmpty { report(.emptyGroup(path: path(Field("finally"))), at: node) }
    var steps: [Step] = []
    read(node, "finally", into: &steps)
    return steps
  }
}
