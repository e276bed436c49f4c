import WeftDiagnostics
import WeftJSON

/// What a step does while its keys are read; which of them go together is known at the end.
struct ActionDraft {
  var hasUnknownKey = false

  /// The key `run`.
  var run: JSONNode?
  var invocation: Command.Invocation?
  var stdin: StandardInput?
  var successCodes: [Int]?
  /// The keys that only a command has.
  var commandKeys: [JSONNode] = []

  var group = GroupDraft()
  var maxParallel: Int?
  var maxParallelKey: JSONNode?
}

extension DecodingPass {
  /// In place of an action that is wrong. Its file is rejected, so it never runs.
  static let nothing = StepAction.run(Command(.script("")))

  private static let success = [0]

  static func running(_ script: String) -> StepAction {
    .run(Command(.script(script), successCodes: success))
  }

  /// Puts together what the step does, and tells what does not go together.
  mutating func action(of draft: ActionDraft, at node: JSONNode) -> StepAction {
    if let order = draft.group.order { return group(order, of: draft) }
    guard let run = draft.run else {
      if !draft.hasUnknownKey { report(.noAction, at: node) }
      return DecodingPass.nothing
    }
    if let key = draft.maxParallelKey {
      report(.groupKeyOfCommand("maxParallel"), at: key, related: ("\"run\" is here", run))
    }
    guard let invocation = draft.invocation else { return DecodingPass.nothing }
    return .run(
      Command(
        invocation, stdin: draft.stdin,
        successCodes: draft.successCodes ?? DecodingPass.success))
  }

  private mutating func group(_ order: StepGroup.Order, of draft: ActionDraft) -> StepAction {
    if let run = draft.run, let key = draft.group.key {
      let (first, second) = run.range.start < key.range.start ? (run, key) : (key, run)
      reportSeveralActions(first, second)
    } else {
      for key in draft.commandKeys {
        report(
          .commandKeyOfGroup(key.stringValue ?? ""), at: key,
          related: draft.group.key.map { ("\"\(order.rawValue)\" is here", $0) })
      }
    }
    return .group(StepGroup(order, draft.group.members, maxParallel: draft.maxParallel))
  }
}
