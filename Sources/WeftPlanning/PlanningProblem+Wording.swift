import WeftDefinition
import WeftDiagnostics

extension PlanningProblem {
  /// The diagnostic code, stable across releases and unique to the case.
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
    case .needsAfterwards: "W0214"
    case .unknownPool: "W0215"
    case .tooManySlots, .moreThanRate: "W0216"
    case .poolOfGroup: "W0217"
    case .tooFewMembers: "W0218"
    case .fileNotRead: "W0220"
    case .unknownParameter: "W0221"
    case .missingParameters: "W0222"
    case .unfitParameter: "W0223"
    case .unknownAction: "W0224"
    case .unsendable: "W0426"
    case .credentialsInURL, .credentialsInProxy: "W0514"
    case .cachedOutside: "W0225"
    case .cachedInputInOutput: "W0227"
    case .sharedOutput: "W0228"
    case .idOfFinally, .idOfCleanup: "W0219"
    case .needsTwice: "W0501"
    case .unusedPool: "W0512"
    case .leavesOrder: "W0515"
    case .literal: "W0516"
    case .cachedWithoutVariables: "W0517"
    case .raceOfOne: "W0513"
    case .unfit(let value): value.code
    case .value(let problem): problem.code
    }
  }

  /// The offending key, by its name in the file format; `nil` if there is no single one, or if the text names it.
  var key: String? {
    switch self {
    case .duplicateID, .idOfFinally, .idOfCleanup: "id"
    case .needsItself, .unknownNeed, .needsItsGroup, .needsItsMember, .needsInsideOf,
      .needsAfterwards, .needsTwice, .leavesOrder:
      "needs"
    case .unknownLog, .readsLogOfGroup, .readsItsOwnLog, .readsLogOfTerminal: "stdin.log"
    case .unknownPool, .tooManySlots, .moreThanRate, .poolOfGroup: "pool"
    case .unusedPool(let pool): "pools.\(pool)"
    case .tooFewMembers: "join"
    case .raceOfOne: "race"
    case .fileNotRead: "workflow"
    case .unknownParameter(let name, _, _, _): "with.\(name)"
    case .missingParameters, .unfitParameter: "with"
    case .unknownAction: "use"
    case .unsendable(let path, _, _), .credentialsInURL(let path), .credentialsInProxy(let path):
      path
    case .cachedOutside, .cachedInputInOutput, .sharedOutput, .cachedWithoutVariables: "cache"
    case .unfit(let value): value.key
    case .cycle, .groupsTooDeep, .tooManySteps, .literal, .value: nil
    }
  }

  var message: String {
    switch self {
    case .duplicateID(let id, _):
      "duplicate id \"\(id)\""
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
      "the workflow has more than \(WorkflowLimits.steps) steps and groups, with those of the files"
        + " that its steps run"
    case .needsInsideOf(let subject, let member, let sealed):
      "\(subject) waits for \"\(member)\", which cannot be named from outside of"
        + " \"\(sealed.address)\" (\(sealed.reason.rawValue))"
    case .needsAfterwards(let subject, let name, let afterwards):
      "\(subject) waits for \"\(name)\", which \(afterwards.reason)"
    case .unknownPool(let subject, let name, _, _):
      "\(subject) asks for slots of pool \"\(shortened(name))\", which the workflow does not have"
    case .tooManySlots(let subject, let asked, let pool, let slots, _):
      "\(subject) asks for \(asked) slots of pool \"\(pool)\", which has \(slots)"
    case .moreThanRate(let subject, let asked, let pool, let count, _):
      "\(subject) asks for \(asked) slots of pool \"\(pool)\", whose rate gives \(count) at once"
    case .poolOfGroup(let group):
      "group \"\(group)\" asks for slots of a pool, and runs nothing itself"
    case .tooFewMembers(let group, let wanted, let there):
      "group \"\(group)\" waits for the success of \(wanted) members, and has \(there)"
    case .cachedOutside(let subject, let path):
      "\(subject) has \"cache\" and a path that leads out of the start directory: \"\(shortened(path))\""
    case .cachedInputInOutput(let subject, let input, let output):
      "\(subject) reads \"\(shortened(input))\", which is in its cached output \"\(shortened(output))\""
    case .sharedOutput(let subject, let path, let other, let otherPath):
      "\(subject) has the cached output \"\(shortened(path))\", which is, or is inside of, "
        + "\"\(shortened(otherPath))\" of \(other)"
    case .fileNotRead(let subject, let path):
      "\(subject) runs the file \"\(shortened(path))\", which has not been read"
    case .unknownParameter(let name, let path, _, _):
      "\"\(shortened(path))\" has no input \"\(shortened(name))\""
    case .missingParameters(let names, let path):
      "\"\(shortened(path))\" requires \(names.count == 1 ? "input" : "inputs") "
        + "\(listed(names.map { "\"\($0)\"" }, conjunction: "and")), not given here"
    case .unfitParameter(let message, _): message
    case .unknownAction(let subject, let name, _, _):
      "\(subject) uses the action \"\(name)\", which is not registered"
    case .idOfFinally:
      "the id \"finally\" is what the steps of \"finally\" are called by"
    case .idOfCleanup(let loop):
      "in each element of \"\(loop)\", this step and the cleanup of \"\(loop)\" would have one address"
    case .unsendable(let path, let message, _): "\(path): \(message)"
    case .credentialsInURL(let path), .credentialsInProxy(let path):
      "\(path) has a user or a password in it, which everybody sees who sees the file"
    case .unusedPool(let pool):
      "no step asks for slots of pool \"\(pool)\""
    case .raceOfOne(let group):
      "race \"\(group)\" has a single member, which always wins or fails alone"
    case .needsTwice(let subject, let name, _):
      "\(subject) needs \"\(name)\" twice"
    case .leavesOrder(let subject, let previous):
      "\(subject) does not wait for \"\(previous)\" before it, for it has \"needs\"; nor does what follows it"
    case .literal(let remark): remark.message
    case .cachedWithoutVariables(let names, _):
      "the script reads \(list(names)) from the environment, but the cached result does not depend on "
        + (names.count == 1 ? "it" : "them")
    case .unfit(let value): value.message
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
      Suggestion(nearest).description
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
    case .needsAfterwards(_, _, let afterwards):
      afterwards.help
    case .unknownPool(_, _, _, let nearest?):
      Suggestion(nearest).description
    case .unknownPool(_, let name, let known, nil):
      known.isEmpty
        ? "declare it: \"pools\": { \"\(shortened(name))\": 1 }"
        : "there \(known.count == 1 ? "is" : "are") \(known.prefix(12).joined(separator: ", "))"
    case .tooManySlots(_, _, _, let slots, _):
      "ask for \(slots) at most, or give the pool more"
    case .moreThanRate(_, _, _, let count, _):
      "ask for \(count) at most, or give the rate a larger count and a longer time"
    case .poolOfGroup:
      "let its members ask for it"
    case .tooFewMembers(_, _, let there):
      "\(there) at most can succeed"
    case .cachedOutside:
      "what is kept and put back is below the directory where weft starts; see -C"
    case .cachedInputInOutput:
      "name what the step makes only, in a directory of its own"
    case .sharedOutput:
      "give each step a directory of its own: what one puts back the other would take for its own"
    case .fileNotRead:
      "read the workflow by Workflow(contentsOf:), or give the step the other one as a value"
    case .unknownParameter(_, _, _, let nearest?):
      Suggestion(nearest).description
    case .unknownParameter(_, let path, let known, nil):
      known.isEmpty
        ? "declare it in \"\(shortened(path))\": \"inputs\": { \"…\": { \"type\": \"string\" } }"
        : "its inputs are \(listed(known.map { "\"\($0)\"" }, conjunction: "and"))"
    case .missingParameters(let names, _):
      "write \"with\": { " + names.prefix(12).map { "\"\($0)\": …" }.joined(separator: ", ")
        + " }"
    case .unfitParameter(_, let help): help
    case .unknownAction(_, _, _, let nearest?):
      Suggestion(nearest).description
    case .unknownAction(_, _, let known, nil):
      known.isEmpty
        ? "actions are registered by programs that embed Weft, and this one has registered none"
        : "registered \(known.count == 1 ? "is" : "are") \(known.prefix(12).joined(separator: ", "))"
    case .idOfFinally:
      "choose another id"
    case .idOfCleanup(let loop):
      "choose another id, or give the cleanup of \"\(loop)\" one"
    case .unsendable(_, _, let help): help
    case .credentialsInURL:
      "write \"auth\": { \"basic\": { \"user\": …, \"password\": \"${{ secrets.… }}\" } }"
    case .credentialsInProxy:
      "write \"http://${{ secrets.… }}:${{ secrets.… }}@…\""
    case .unusedPool(let pool):
      "write \"pool\": \"\(pool)\" in the steps that share it, or remove it"
    case .raceOfOne:
      "add another member, or write \"steps\""
    case .leavesOrder(_, let previous):
      "add \"\(previous)\" to \"needs\"; if it is meant, say so by \"needs\" of the steps that follow, or by \"parallel\""
    case .literal(let remark): remark.help
    case .cachedWithoutVariables(let names, let counted):
      "write \"env\": [\((counted + names).map { "\"\($0)\"" }.joined(separator: ", "))] in \"cache\", "
        + "or set \(list(names)) in the \"env\" of the step"
    case .needsTwice:
      "once is enough"
    case .unfit(let value): value.help
    case .value(let problem): problem.help
    }
  }

  /// Whether a name looks like the address of a step without an id: `3`, `2.1`, `checks.3`.
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

  private func list(_ names: [String]) -> String {
    let quoted = names.map { "\"\(shortened($0))\"" }
    guard quoted.count > 1, let last = quoted.last else { return quoted.joined() }
    return "\(quoted.dropLast().joined(separator: ", ")) and \(last)"
  }

  /// Shortens a name that may have any length.
  private func shortened(_ name: String) -> String {
    name.unicodeScalars.count <= 100 ? name : String(name.unicodeScalars.prefix(99)) + "…"
  }
}
