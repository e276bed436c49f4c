import WeftDiagnostics
import WeftJSON

/// The action of a step while its keys are read. Whether the keys go together is known only at the end.
struct ActionDraft {
  var hasUnknownKey = false
  /// The kind that the first action key gives, and that key.
  private(set) var kind: ActionKind?
  private(set) var key: JSONNode?
  /// Whether a second action key was reported.
  var isAmbiguous = false

  var invocation: Command.Invocation?
  /// The command except for its invocation.
  var command = DecodingPass.nothingToRun
  /// Keys that only some kinds of steps may have.
  var placedKeys: [(name: StepKey, node: JSONNode)] = []

  var group = GroupDraft()
  var maxParallel: Int?
  private var boxedRest: Boxed<Rest>?
  /// Whether the step has outputs to compute, which is enough for an action.
  var computesOutputs = false

  /// Values that most steps do not have.
  var rest: Rest? {
    get { boxedRest?.value }
    set { boxedRest = newValue.map(Boxed.holding) }
  }

  struct Rest {
    var waiting: Waiting?
    var approval: Approval?
    var nested: NestedWorkflow?
    var called: ActionCall?
    var request: HTTPCall?
    var parameters: [Parameter] = []
    var join: (value: StepGroup.Join, node: JSONNode)?
    /// `forEach` or `matrix`, whichever came first.
    var fanOut: (key: StepKey, node: JSONNode)?
  }

  /// Sets the kind and its key; only the first action key counts.
  mutating func begin(_ kind: ActionKind, _ key: JSONNode) {
    guard self.kind == nil else { return }
    self.kind = kind
    self.key = key
  }

  mutating func withRest(_ change: (inout Rest) -> Void) {
    var rest = rest ?? Rest()
    change(&rest)
    self.rest = rest
  }
}

extension DecodingPass {
  /// A stand-in for an invalid action. Its file is rejected, so it never runs.
  static let nothing = StepAction.run(nothingToRun)
  static let nothingToRun = Command(.script(""))

  private static let success = [0]

  static func running(_ script: String) -> StepAction {
    .run(Command(.script(script), successCodes: success))
  }

  /// Notes an action key. A second one is reported with the locations of both.
  mutating func begin(_ kind: ActionKind, _ key: JSONNode, in draft: inout ActionDraft) {
    if let first = draft.key, draft.kind != kind {
      draft.isAmbiguous = true
      // Two groups are reported when their members are read.
      if draft.kind?.isGroup != true || !kind.isGroup { reportSeveralActions(first, key) }
    }
    draft.begin(kind, key)
  }

  /// Assembles the action, and reports keys that do not go together.
  mutating func action(of draft: ActionDraft, at node: JSONNode) -> StepAction {
    guard let kind = draft.kind ?? (draft.computesOutputs ? .compute : nil) else {
      if !draft.hasUnknownKey { report(.noAction, at: node) }
      return DecodingPass.nothing
    }
    if !draft.isAmbiguous { check(draft, kind, at: node) }
    // Among several actions a group wins: other steps may need its members.
    if let order = draft.group.order { return .group(group(order, of: draft)) }
    switch kind {
    case .compute: return .compute
    case .run:
      guard let invocation = draft.invocation else { return DecodingPass.nothing }
      var command = draft.command
      command.invocation = invocation
      return .run(command)
    case .wait: return draft.rest?.waiting.map(StepAction.wait) ?? DecodingPass.nothing
    case .approve: return draft.rest?.approval.map(StepAction.approve) ?? DecodingPass.nothing
    case .workflow:
      guard var nested = draft.rest?.nested else { return DecodingPass.nothing }
      nested.parameters = draft.rest?.parameters ?? []
      return .workflow(nested)
    case .use:
      guard var call = draft.rest?.called else { return DecodingPass.nothing }
      call.parameters = draft.rest?.parameters ?? []
      return .use(call)
    case .http: return draft.rest?.request.map(StepAction.http) ?? DecodingPass.nothing
    case .steps, .parallel, .race: return DecodingPass.nothing
    }
  }

  /// Reports keys that this kind of step cannot have, and points to the key that makes it one.
  private mutating func check(_ draft: ActionDraft, _ kind: ActionKind, at node: JSONNode) {
    for key in draft.placedKeys where !kind.allows(key.name) {
      report(
        .control(.misplacedKey(key.name, of: kind)), at: key.node,
        related: draft.key.map { ("\"\($0.stringValue ?? "")\" is here", $0) })
    }
    switch kind {
    case .run:
      checkTerminal(of: draft)
      checkCaching(of: draft)
    case .workflow: checkSettings(of: node, besides: draft) { .settingOfOtherFile($0) }
    case .use: checkSettings(of: node, besides: draft) { .misplacedKey($0, of: .use) }
    // A request may have `cwd`: the paths of its files are relative to it.
    case .http:
      checkSettings(of: node, besides: draft, but: .cwd) { .misplacedKey($0, of: .http) }
    case .steps, .parallel, .race, .wait, .approve, .compute: break
    }
  }

  private mutating func group(_ order: StepGroup.Order, of draft: ActionDraft) -> StepGroup {
    var group = StepGroup(order, draft.group.members, maxParallel: draft.maxParallel)
    guard order == .parallel, let join = draft.rest?.join else { return group }
    group.join = join.value
    if case .atLeast(let wanted) = join.value, wanted > group.members.count, draft.group.isList,
      !draft.isAmbiguous
    {
      let problem = ControlProblem.joinOfMore(
        path: path(Field("join").part("atLeast")), wanted: wanted, members: group.members.count)
      report(.control(problem), at: join.node)
    }
    return group
  }

  /// Reports settings of commands: they reach neither another file's steps nor a registered action.
  private mutating func checkSettings(
    of step: JSONNode, besides draft: ActionDraft, but allowed: StepKey? = nil,
    _ problem: (StepKey) -> ControlProblem
  ) {
    for member in step.members {
      guard let key: StepKey = known(member.key), key.isSetting, key != allowed else { continue }
      report(
        .control(problem(key)), at: member.key,
        related: draft.key.map { ("\"\($0.stringValue ?? "")\" is here", $0) })
    }
  }

  /// Reports keys about pipes on a step with `tty`, which has none.
  private mutating func checkTerminal(of draft: ActionDraft) {
    guard draft.command.usesTerminal,
      let terminal = draft.placedKeys.first(where: { $0.name == .tty })
    else { return }
    for key in draft.placedKeys where key.name.isAboutPipes {
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

  fileprivate var isSetting: Bool {
    switch self {
    case .env, .envPolicy, .cwd, .shell: true
    default: false
    }
  }
}
