import WeftDiagnostics
import WeftJSON

/// What a step does while its keys are read; which of them go together is known at the end.
struct ActionDraft {
  var hasUnknownKey = false

  /// The key `run`.
  var run: JSONNode?
  var invocation: Command.Invocation?
  /// The command but for its invocation.
  var command = DecodingPass.nothingToRun
  /// The keys that only a command has.
  var commandKeys: [(name: StepKey, node: JSONNode)] = []

  var group = GroupDraft()
  var maxParallel: Int?
  var maxParallelKey: JSONNode?
  /// Something to compute is enough to do.
  var computesOutputs = false
}

extension DecodingPass {
  /// In place of an action that is wrong. Its file is rejected, so it never runs.
  static let nothing = StepAction.run(nothingToRun)
  static let nothingToRun = Command(.script(""))

  private static let success = [0]

  static func running(_ script: String) -> StepAction {
    .run(Command(.script(script), successCodes: success))
  }

  /// Puts together what the step does, and tells what does not go together.
  mutating func action(of draft: ActionDraft, at node: JSONNode) -> StepAction {
    if let order = draft.group.order { return group(order, of: draft) }
    guard let run = draft.run else {
      return actionOfNone(draft, at: node)
    }
    if let key = draft.maxParallelKey {
      report(.groupKeyOfCommand("maxParallel"), at: key, related: ("\"run\" is here", run))
    }
    guard let invocation = draft.invocation else { return DecodingPass.nothing }
    checkTerminal(of: draft)
    var command = draft.command
    command.invocation = invocation
    return .run(command)
  }

  /// A step that runs nothing computes its outputs, and has no command to say anything about.
  private mutating func actionOfNone(_ draft: ActionDraft, at node: JSONNode) -> StepAction {
    guard draft.computesOutputs else {
      if !draft.hasUnknownKey { report(.noAction, at: node) }
      return DecodingPass.nothing
    }
    for key in draft.commandKeys {
      report(.commandKeyOfComputation(key.name.rawValue), at: key.node)
    }
    if let key = draft.maxParallelKey {
      report(.groupKeyOfCommand("maxParallel"), at: key)
    }
    return .compute
  }

  private mutating func group(_ order: StepGroup.Order, of draft: ActionDraft) -> StepAction {
    if let run = draft.run, let key = draft.group.key {
      let (first, second) = run.range.start < key.range.start ? (run, key) : (key, run)
      reportSeveralActions(first, second)
    } else {
      for key in draft.commandKeys {
        report(
          .commandKeyOfGroup(key.name.rawValue), at: key.node,
          related: draft.group.key.map { ("\"\(order.rawValue)\" is here", $0) })
      }
    }
    return .group(StepGroup(order, draft.group.members, maxParallel: draft.maxParallel))
  }

  /// A step that has the terminal has no pipes, and so none of what is done with them.
  private mutating func checkTerminal(of draft: ActionDraft) {
    guard draft.command.usesTerminal,
      let terminal = draft.commandKeys.first(where: { $0.name == .tty })
    else { return }
    for key in draft.commandKeys where key.name.isAboutPipes {
      report(
        .pipeKeyBesideTerminal(key.name.rawValue), at: key.node,
        related: ("\"tty\" is here", terminal.node))
    }
  }
}

extension StepKey {
  fileprivate var isAboutPipes: Bool {
    switch self {
    case .stdin, .stallTimeout, .mergeOutput, .logLimit: true
    default: false
    }
  }
}
