import WeftDefinition

extension PlanningProblem {
  /// Stable across releases, and unique to the case.
  var code: String {
    switch self {
    case .duplicateID: "W0201"
    case .needsItself: "W0202"
    case .unknownNeed: "W0203"
    case .needsItsGroup: "W0204"
    case .needsItsMember: "W0205"
    case .cycle: "W0206"
    case .unknownLog: "W0207"
    case .readsLogOfGroup: "W0208"
    case .readsItsOwnLog: "W0209"
    case .groupsTooDeep: "W0210"
    case .tooManySteps: "W0211"
    case .readsLogOfTerminal: "W0212"
    case .needsInsideOf: "W0213"
    case .needsTwice: "W0501"
    case .value(let problem): problem.code
    }
  }

  var message: String {
    switch self {
    case .duplicateID(let id, _):
      "the id \"\(id)\" belongs to another step already"
    case .needsItself(let subject):
      "\(subject) needs itself"
    case .unknownNeed(let subject, let name, _):
      "\(subject) needs \"\(shortened(name))\", which is not a step of this workflow"
    case .needsItsGroup(let subject, let group):
      "\(subject) needs \"\(group)\", which is a group around it"
    case .needsItsMember(let subject, let member):
      "\(subject) needs \(member), which is inside it"
    case .cycle(let cycle):
      "steps wait for each other: \(cycle.path)"
    case .unknownLog(let subject, let name, _):
      "\(subject) reads the log of \"\(shortened(name))\", which is not a step of this workflow"
    case .readsLogOfGroup(let subject, let group):
      "\(subject) reads the log of \"\(group)\", which is a group and has none"
    case .readsItsOwnLog(let subject):
      "\(subject) reads its own log"
    case .readsLogOfTerminal(let subject, let step):
      "\(subject) reads the log of \"\(step)\", which writes to the terminal and has none"
    case .groupsTooDeep(let group):
      "group \"\(group)\" is nested deeper than \(WorkflowLimits.groupDepth) groups"
    case .tooManySteps:
      "the workflow has more than \(WorkflowLimits.steps) steps and groups"
    case .needsInsideOf(let subject, let member, let sealed):
      "\(subject) waits for \"\(member)\", which cannot be named from outside of"
        + " \"\(sealed.address)\" (\(sealed.reason.rawValue))"
    case .needsTwice(let subject, let name, _):
      "\(subject) needs \"\(name)\" twice"
    case .value(let problem): problem.message
    }
  }

  var help: String? {
    switch self {
    case .duplicateID:
      "an id is unique in its file: rename one of the two"
    case .needsItself:
      "remove this need"
    case .unknownNeed(_, _, let nearest?), .unknownLog(_, _, let nearest?):
      "did you mean \"\(nearest)\"?"
    case .unknownNeed(_, let name, nil), .unknownLog(_, let name, nil):
      isPosition(name)
        ? "\"\(name)\" is a position: give that step an \"id\" and name it by that"
        : "a step or group is named by its \"id\""
    case .needsItsGroup(_, let group):
      "\"\(group)\" ends only when all in it has ended: name the members of it to wait for"
    case .needsItsMember(let group, let member):
      "\(member) starts only when \(group) does: give the need to the members that wait for it"
    case .cycle(let cycle):
      cycle.help
    case .readsLogOfGroup(_, let group):
      "name one of the steps in \"\(group)\""
    case .readsLogOfTerminal(_, let step):
      "remove \"tty\" from \"\(step)\", or let it write into a file"
    case .readsItsOwnLog:
      "name another step, or remove \"stdin\""
    case .groupsTooDeep:
      "move inner groups out, and name them in \"needs\""
    case .tooManySteps:
      "split the workflow into several"
    case .needsInsideOf(_, _, let sealed):
      sealed.help
    case .needsTwice:
      "once is enough"
    case .value(let problem): problem.help
    }
  }

  /// Whether a name looks like the address of a step without id: `3`, `2.1`, `checks.3`.
  private func isPosition(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isNumber = parts.map { part in
      !part.isEmpty && part.count < 10 && part.allSatisfy { (0x30...0x39).contains($0) }
    }
    guard parts.count < 100, let first = parts.first, isNumber.dropFirst().allSatisfy(\.self) else {
      return false
    }
    return isNumber[0] || parts.count > 1 && StepID.isValid(first)
  }

  /// A name that was made up may have any length.
  private func shortened(_ name: String) -> String {
    name.unicodeScalars.count <= 100 ? name : String(name.unicodeScalars.prefix(99)) + "…"
  }
}
