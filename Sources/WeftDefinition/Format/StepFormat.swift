import WeftDiagnostics
import WeftJSON

/// A step while its keys are read. Whether the keys go together is known only at the end.
struct StepDraft: FormatObject {
  var step: Step
  /// The kind that the first action key gives, and that key.
  private(set) var kind: ActionKind?
  private(set) var key: JSONNode?
  /// Whether a second action key was reported.
  private(set) var isAmbiguous = false
  /// Whether a key was dropped that may have been the action.
  var lacksKey = false
  /// Keys that only some kinds of steps may have.
  private(set) var placed: [(rule: KeyRule, node: JSONNode)] = []

  /// The action, unless it is a command or a group.
  var action: StepAction?
  var invocation: Command.Invocation?
  /// The command except for its invocation.
  var command = DecodingPass.nothingToRun
  var group = GroupDraft()
  @Computable var maxParallel: Int? = nil
  var join: (value: StepGroup.Join, node: JSONNode)?
  var parameters: [Parameter] = []
  /// `forEach` or `matrix`, whichever came first.
  fileprivate var loopKey: JSONNode?

  static let format = ObjectFormat<StepDraft>("a step") {
    FormatKey(
      "id", "Id",
      """
      Names the step for needs, events and the command line; unique in the file. A step \
      without an id is addressed by its position.
      """, schema: #"{"$ref": "identifier", "examples": ["build", "unit-tests"]}"#,
      traits: .graphText
    ) { pass, member, field, draft in
      draft.step.id = pass.id(member.value, field)
      draft.step.place.value?.id = member.value.range
    }
    FormatKey<StepDraft>.run
    FormatKey<StepDraft>.script
    FormatKey(
      "needs",
      "Dependencies",
      """
      The ids of the steps and groups that the step waits for, instead of the member \
      before it: any of the file, except the groups around it and the members inside it. \
      Waiting for a group means waiting for all its members. An empty list waits only for \
      the start of its own group.
      """,
      schema: #"""
        {"type": "array", "items": "@stepName", "examples": [["build"], ["test",
        "lint"]]}
        """#,
      synonyms: "dependsOn depends_on depends dependencies deps requires after upstream",
      traits: [.graphList, .notInCleanup]
    ) { pass, member, field, draft in draft.step.needs = pass.needs(member.value, field) }
    FormatKey(
      "name", .text("a name", at: .name), "Name",
      "A name for display; expressions in it can read inputs, run and workflow.",
      synonyms: "label title tag message displayName"
    ) { $0.step.name = $1 }
    FormatKey(
      "description", .plainText(), "Description",
      "The purpose; any text."
    ) { $0.step.description = $1 }
    FormatKey<StepDraft>.commandSettings
    FormatKey(
      "stdin", ValueFormat { $0.standardInput($1, $2) }, "Standard input",
      "The program's input: a text, a file, or the log of another step. Default: empty.",
      schema: #"""
        {"anyOf": ["@text", "@stdin"], "examples": ["yes\n", {"file": "data.csv"},
        {"log": "list"}]}
        """#,
      synonyms: "input", on: [.run], traits: .aboutPipes
    ) { $0.command.stdin = $1 }
    FormatKey(
      "timeout", .duration(as: .timeout), "Time limit",
      """
      The time limit of one attempt, from its start; for a group, from the time when its \
      dependencies are done. After it, everything that was started is terminated.
      """, on: ActionKind.attempts + [.workflow, .approve] + ActionKind.groups,
      at: \.step.$timeout)
    FormatKey(
      "allowFailure",
      ValueFormat(FormatType(.other, as: .allowFailure)) { $0.tolerance($1, $2) },
      "Allowed failures",
      """
      Whether the run continues, and succeeds, although this fails: always, never, or only \
      for some error classes.
      """,
      schema: #"""
        {"anyOf": [{"type": "boolean"}, {"type": "array", "items": "@errorClass"},
        "@expression"], "default": false, "examples": [true, ["timeout"], ["exit:3",
        "signal:KILL"]]}
        """#,
      synonyms: """
        continue-on-error continueOnError ignoreErrors allow_failure ignore_errors ignore_error \
        continueOn continue_on
        """,
      at: \.step.$allowFailure)
    FormatKey(
      "successCodes", ValueFormat { $0.successCodes($1, $2) }, "Exit codes of success",
      "The exit codes that count as success.",
      schema: #"""
        {"type": "array", "minItems": 1, "items": {"type": "integer", "minimum": 0,
        "maximum": 255}, "default": [0], "examples": [[0, 1]]}
        """#, on: [.run]
    ) { $0.command.successCodes = $1 }
    FormatKey(
      "steps", "One after another",
      "Members in order: each waits for the one before it, unless it has needs.",
      schema: #"""
        {"type": "array", "items": "@step", "examples": [["swift build", "swift test"]],
        "defaultSnippets": [{"label": "steps: one after another", "body": ["$1", "$2"]}]}
        """#,
      synonyms: "jobs tasks sequence stages cmds commands",
      traits: [.action, .graphList, .notInCleanup]
    ) { pass, member, _, draft in pass.group(.steps, member, into: &draft) }
    FormatKey(
      "parallel", "Side by side",
      """
      Members side by side: each waits only for the start of the group, unless it has \
      needs. With needs among the members, the list is a graph.
      """,
      schema: #"""
        {"type": "array", "items": "@step", "examples": [["make test", "make lint"]]}
        """#, traits: [.action, .graphList, .notInCleanup]
    ) {
      pass, member, _, draft in
      pass.group(.parallel, member, into: &draft)
    }
    FormatKey(
      "maxParallel", .integer(as: .maxParallel), "Parallelism",
      "The maximum number of steps inside that run at once.", schema: #"{"examples": [4]}"#,
      synonyms: "max-parallel max_parallel parallelism", on: ActionKind.groups, at: \.$maxParallel)
    FormatKey<StepDraft>.environmentPolicy
    FormatKey(
      "stop", ValueFormat { $0.stopRequest($1, $2) }, "Termination",
      """
      How the step is terminated when it is cancelled or over its time limit: a signal to \
      all its processes, then KILL to those that remain after the grace period.
      """,
      schema: #"""
        {"$ref": "stop", "examples": [{"signal": "INT", "grace": "30s"}, {"grace": "0s"}]}
        """#,
      synonyms: """
        stopSignal killSignal KillSignal stop_signal gracePeriod stop_grace_period \
        terminationGracePeriod terminationGracePeriodSeconds
        """, on: [.run]
    ) { $0.command.stop = $1 }
    FormatKey(
      "leftovers", .word(of: LeftoverPolicy.self), "Remaining processes",
      """
      What happens to processes of the step that are still running after its program has \
      ended by itself.
      """,
      schema: #"""
        {"enumDescriptions": ["They are terminated, and reported.",
        "After a success they continue to run, also when the run ends."], "default": "end"}
        """#,
      synonyms: "background daemon killGroup KillMode killMode", on: [.run]
    ) { $0.command.leftovers = $1 }
    FormatKey(
      "stallTimeout", .duration(as: .stallTimeout), "Silence limit",
      """
      The maximum time without output on either stream, from the start or from the last \
      output. After it, everything that was started is terminated, and the step fails with \
      the class stall.
      """,
      synonyms: "noOutputTimeout no_output_timeout idleTimeout inactivityTimeout", on: [.run],
      traits: .aboutPipes, at: \.command.options.$stallTimeout)
    FormatKey(
      "mergeOutput", .flag(as: .mergeOutput), "Merged output",
      """
      Whether both output streams share one pipe: their order is then exact, and \
      everything counts as standard output.
      """, schema: #"{"default": false}"#,
      synonyms: "mergeStderr redirect_stderr", on: [.run], traits: .aboutPipes,
      at: \.command.options.$mergesOutput)
    FormatKey(
      "logLimit", .size(as: .logLimit), "Log limit",
      """
      The maximum output that is kept and shown. The step continues beyond it, and its end \
      says that output was cut off.
      """, schema: #"{"default": "1GiB"}"#,
      synonyms: "maxLogSize maxOutput outputLimit", on: [.run], traits: .aboutPipes,
      at: \.command.options.$logLimit)
    FormatKey(
      "tty", .flag(as: .tty), "Terminal",
      """
      Whether the step has the terminal to itself, for programs that ask questions: its \
      output is not recorded, and without a terminal it fails to start.
      """, schema: #"{"default": false}"#, synonyms: "interactive pty terminal", on: [.run],
      at: \.command.options.$usesTerminal)
    FormatKey(
      "jobserver", .flag(as: .jobserver), "Jobserver",
      """
      Whether the step gets a GNU make jobserver, so that its parallel commands share the \
      slots of the run.
      """, schema: #"{"default": false}"#, on: [.run],
      at: \.command.options.$usesJobserver)
    FormatKey(
      "cache",
      .object(
        "cache", "an object with \"inputs\"", from: Command.Caching(inputs: [])
      ) { _ in "write { \"inputs\": [\"src/**\"], \"outputs\": [\"build\"] }" },
      "Cached results",
      """
      The files that the step reads and creates: while everything that it depends on is \
      unchanged, the step is not run again, and its files are restored. It depends on its \
      command, directory, loop element and input, the variables that the workflow sets, \
      and what is listed here.
      """,
      schema: #"""
        {"defaultSnippets": [{"label": "cache: files in, files out",
        "body": {"inputs": ["$1"], "outputs": ["$2"]}}]}
        """#,
      synonyms: "memoize memo incremental upToDate", on: [.run], traits: .notInCleanup
    ) { $0.command.caching = $1 }
    FormatKey(
      "service", ValueFormat { $0.service($1, $2) }, "Service",
      """
      The step keeps running while others use it. It counts as done when it is ready, then holds \
      no slot of the run, and is terminated when the group that contains it, or the run, ends.
      """,
      schema: #"""
        {"$ref": "service", "examples": [{"ready": {"tcp": "127.0.0.1:5432"}}],
        "defaultSnippets": [{"label": "service: ready at a port",
        "body": {"ready": {"tcp": "127.0.0.1:$1"}}}]}
        """#,
      synonyms: "detach services", on: [.run], traits: .notInCleanup
    ) { $0.command.service = $1 }
    FormatKey(
      "resources", ValueFormat { $0.resources($1, $2) }, "Resources",
      """
      What each attempt needs while it runs. Attempts that run at the same time never request \
      more processors or memory than this machine, or the control group of weft, has.
      """,
      schema: #"""
        {"$ref": "resources", "examples": [{"cpus": 4, "memory": "2GiB"}]}
        """#,
      synonyms: "requests threads cpus cores memory mem", on: [.run]
    ) { $0.command.resources = $1 }
    FormatKey(
      "outputs", ValueFormat { $0.outputs($1, $2) }, "Outputs", "The outputs, by name.",
      schema: #"""
        {"type": "object", "propertyNames": "@identifier",
        "additionalProperties": "@output", "examples": [{"version": "${{ self.stdout }}"},
        {"count": {"type": "integer"}}]}
        """#,
      synonyms: "out outs"
    ) { $0.step.outputs = $1 }
    FormatKey(
      "if", .condition, "Condition",
      """
      Whether the step runs: an expression, with or without ${{ }} around it. Default: \
      only if everything that it waits for has succeeded.
      """, schema: #"{"examples": ["!inputs.draft", "failure()", true]}"#,
      synonyms: "when condition only_if rules preconditions"
    ) { $0.step.control.condition = $1 }
    FormatKey(
      "retry", ValueFormat { $0.retry($1, $2) }, "Retries",
      """
      How often the step is retried after a failure that may be temporary: a number, a \
      policy, or up to 16 policies with counters of their own, of which the first that \
      matches the failure applies. Default: never.
      """,
      schema: #"""
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 1000}, "@expression",
        "@retryPolicy", {"type": "array", "items": "@listedRetryPolicy", "minItems": 1,
        "maxItems": 16}], "default": 0, "examples": [3, {"max": 5, "delay": "2s",
        "maxDelay": "1m", "on": ["exit:75", "timeout"]}, [{"max": 3, "on": ["timeout"]},
        {"max": 1, "delay": "1m"}]]}
        """#,
      synonyms: """
        retries retryStrategy retry_policy retryPolicy maxRetries max_retries repeatPolicy \
        repeat_policy
        """,
      on: ActionKind.attempts + [.workflow] + ActionKind.groups
    ) { $0.step.control.retry = $1 }
    FormatKey(
      "pool", ValueFormat { $0.poolRequests($1, $2) }, "Pool slots",
      """
      Slots of pools that each attempt holds while it runs, taken all at once: the name of \
      a pool, or a number for each.
      """,
      schema: #"""
        {"anyOf": ["@poolName", {"type": "object", "propertyNames": "@poolName",
        "additionalProperties": "@slots", "minProperties": 1}], "examples": ["db", {"db": 1,
        "cpu": 2}]}
        """#,
      synonyms: "semaphore mutex lock resource_group", on: ActionKind.attempts
    ) { $0.step.control.pools = $1 }
    FormatKey(
      "cleanup", ValueFormat { $0.cleanup($1, $2) }, "Cleanup",
      """
      A step, or several that run in order, when the enclosing group or the run ends, if \
      this step was started.
      """,
      schema: #"""
        {"anyOf": ["@cleanupStep", {"type": "array", "items": "@cleanupStep"}],
        "examples": ["rm -rf out", ["make down", {"run": ["rm", "-rf", "out"]}]]}
        """#,
      synonyms: "teardown after_script defer onExit post handlerOn", traits: .notInCleanup
    ) { $0.step.control.cleanup = $1 }
    FormatKey(
      "forEach", "For each",
      "Runs the step or group once for each element of a list or object.",
      schema: #"""
        {"anyOf": [{"type": "array", "items": "@literal", "maxItems": 1000000}, "@expression",
        "@forEach"], "examples": [["a", "b"], {"glob": "src/**/*.c", "as": "file"},
        {"in": "${{ steps.list.json }}", "as": "file", "maxParallel": 4}]}
        """#,
      synonyms: "foreach for_each for loop each map with_items items",
      traits: .notInCleanup
    ) { pass, member, field, draft in
      guard draft.mayLoop(by: member.key, &pass) else { return }
      draft.step.control.fanOut = pass.forEach(member.value, field).map(FanOut.forEach)
    }
    FormatKey(
      "matrix", "Matrix",
      """
      Runs the step or group once for each combination of values, like GitHub's \
      strategy.matrix.
      """,
      schema: #"""
        {"$ref": "matrix", "examples": [{"os": ["linux", "macos"],
        "include": [{"os": "windows"}]}]}
        """#, synonyms: "strategy", traits: .notInCleanup
    ) {
      pass, member, field, draft in
      guard draft.mayLoop(by: member.key, &pass) else { return }
      draft.step.control.fanOut = pass.matrix(member.value, field).map(FanOut.matrix)
    }
    FormatKey<StepDraft>.wait
    FormatKey<StepDraft>.approve
    FormatKey<StepDraft>.workflow
    FormatKey<StepDraft>.use
    FormatKey<StepDraft>.http
    FormatKey(
      "with", ValueFormat { $0.parameters($1, $2) }, "Parameters",
      """
      The inputs of the other file, or the parameters of the action, by name. Strings can contain expressions; one that is exactly one expression keeps its type.
      """,
      schema: #"""
        {"type": "object", "propertyNames": "@identifier",
        "additionalProperties": {"anyOf": [{"type": "string"}, "@literal"]},
        "examples": [{"version": "${{ inputs.version }}", "draft": true}]}
        """#, synonyms: "parameters params",
      on: [.workflow, .use]
    ) { $0.parameters = $1 }
    FormatKey(
      "race", "Race",
      "Members side by side: the first that succeeds is the result, and cancels the others.",
      schema: #"""
        {"type": "array", "items": "@step", "minItems": 1, "examples": [["make fetch-a",
        "make fetch-b"]]}
        """#, synonyms: "any first anyOf", traits: [.action, .graphList, .notInCleanup]
    ) { pass, member, _, draft in pass.group(.race, member, into: &draft) }
    FormatKey(
      "join",
      "End of the group",
      """
      all: when all members have ended. atLeast: when that many have succeeded; the others \
      are cancelled.
      """,
      schema: #"""
        {"anyOf": [{"const": "all"}, "@join"], "default": "all", "examples": ["all",
        {"atLeast": 2}]}
        """#, on: [.parallel]
    ) { pass, member, field, draft in
      guard let join = pass.join(member.value, field) else { return }
      draft.join = (join, member.value)
    }
    FormatKey(
      "idempotent", .plainFlag, "Idempotent",
      """
      Whether running it twice has the same effect as once. An attempt that was \
      interrupted because the engine was killed is then repeated by weft resume.
      """, schema: #"{"default": false}"#, synonyms: "safe reentrant rerunnable restartable",
      on: ActionKind.attempts
    ) { $0.step.control.isIdempotent = $1 }
    FormatKey(
      "onInterrupted", .word(of: InterruptionResponse.self), "After an interruption",
      """
      What weft resume does with a step that was running when the engine was killed: rerun \
      it, fail it until --rerun names it, or adopt its command, which goes on without the \
      engine. Default, and where a command cannot be adopted: rerun if idempotent, else fail.
      """, synonyms: "onCrash onAbort interruptible",
      on: ActionKind.attempts
    ) { $0.step.control.onInterrupted = $1 }
  }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    if pass.isInCleanup, key.traits.contains(.notInCleanup) {
      // A missing action would only follow from this problem.
      if key.traits.contains(.action) { lacksKey = true }
      pass.report(.keyInCleanup(key.name.description), at: node)
      return false
    }
    if key.kinds != nil { placed.append((key, node)) }
    return true
  }

  static func misplaced(_ key: String, _ value: JSONNode) -> Diagnostic? {
    if key == "uses", let name = value.stringValue, isMarketplaceAction(name) {
      return .marketplaceAction
    }
    if key == "args" || key == "arguments" { return .argumentsApart(key) }
    if WorkflowDraft.format.rule(named: key) != nil { return .workflowKeyOfStep(key) }
    return .keyElsewhere(key, value, of: format.noun)
  }

  /// Whether a name is that of an action for another CI service, such as `actions/checkout@v4`.
  private static func isMarketplaceAction(_ name: String) -> Bool {
    name.hasPrefix("actions/") || name.hasPrefix("docker://") || name.contains("@")
  }

  // MARK: The action

  /// Notes an action key, and returns whether it is the first; only that one counts. A second one is reported with the
  /// locations of both.
  @discardableResult
  mutating func begin(
    _ kind: ActionKind, _ key: JSONNode, _ pass: inout DecodingPass
  ) -> Bool {
    guard let first = self.key else {
      self.kind = kind
      self.key = key
      return true
    }
    // The JSON reader has already reported a repeated key.
    guard self.kind != kind || first.stringValue != key.stringValue else { return false }
    isAmbiguous = true
    // Two groups are reported when their members are read.
    if self.kind?.isGroup != true || !kind.isGroup { pass.reportSeveralActions(first, key) }
    return false
  }

  mutating func take(_ action: StepAction?, of kind: ActionKind) {
    if self.kind == kind { self.action = action }
  }

  /// Whether it is the first of `forEach` and `matrix`; a second one is reported with the locations of both.
  fileprivate mutating func mayLoop(by key: JSONNode, _ pass: inout DecodingPass) -> Bool {
    guard let first = loopKey else {
      loopKey = key
      return true
    }
    let names = (first.stringValue ?? "", key.stringValue ?? "")
    // The JSON reader has already reported a repeated key.
    if names.0 != names.1 {
      pass.report(
        .bothLoopKeys(names.0, names.1), at: key, related: ("\"\(names.0)\" is here", first))
    }
    return false
  }

  func placedKey(_ name: String) -> JSONNode? {
    placed.first { $0.rule.name.description == name }?.node
  }
}

extension StepDraft {
  // Outside of the type, so that the initialiser of all members makes it: one that sets them one by one copies the
  // whole and destroys the first.

  init(_ node: JSONNode) {
    self.init(step: Step(action: DecodingPass.nothing, place: StepPlace(step: node.range)))
  }

  /// A step as if its keys had been read.
  init(_ step: Step) {
    self.init(step: step)
    switch step.action {
    case .run(let command): self.command = command
    case .group(let group): $maxParallel = group.$maxParallel
    case .use, .http, .compute, .wait, .approve, .workflow: break
    }
  }
}

extension FormatKey<StepDraft> {
  /// The key that makes a step one of a kind.
  static func action(
    _ kind: ActionKind, _ title: StaticString, _ help: StaticString, schema: StaticString,
    synonyms: StaticString,
    traits: KeyTraits = [],
    read: @escaping @Sendable (inout DecodingPass, JSONNode, Field) -> StepAction?
  ) -> FormatKey {
    FormatKey(
      kind.rules.key, title, help, schema: schema, synonyms: synonyms,
      traits: traits.union(kind.containsSteps ? [.action, .notInCleanup] : .action)
    ) { pass, member, field, draft in
      draft.begin(kind, member.key, &pass)
      draft.take(read(&pass, member.value, field), of: kind)
    }
  }
}

extension StepDraft: HasCommandSettings {
  var settings: CommandSettings {
    get { step.settings }
    _modify { yield &step.settings }
  }
}

extension Diagnostic {
  /// The counterparts that a step has for keys of the workflow.
  private static let ofStep = [
    "inputs": "pass the inputs of another file with \"with\"",
    "pools":
      "a step uses a pool with \"pool\"; declare pools next to the outermost \"steps\"",
    "finally": "give the step a \"cleanup\", or put \"finally\" next to the outermost \"steps\"",
  ]

  static func workflowKeyOfStep(_ key: String) -> Diagnostic {
    Diagnostic(
      .misplacedKey, "\"\(key)\" is a key of the workflow, not of a step",
      help: ofStep[key] ?? "move it next to the outermost \"steps\" or \"parallel\"")
  }

  fileprivate static func argumentsApart(_ key: String) -> Diagnostic {
    Diagnostic(
      .unknownKey, "\(quoted(key)) is not a key of a step",
      help: "write arguments behind their program: \"run\": [\"program\", \"argument\"]")
  }

  fileprivate static var marketplaceAction: Diagnostic {
    Diagnostic(
      .unknownKey, "\"uses\" is not a key of a step",
      help: "Weft runs no marketplace actions; run the command itself, for example git clone")
  }

  static var noAction: Diagnostic {
    Diagnostic(
      .noAction,
      "the step has nothing to do, expected \"run\", \"script\", \"http\", \"workflow\", \"use\", "
        + "\"wait\", \"approve\", \"outputs\" or a group",
      help: "add an action, such as \"run\": \"make test\"")
  }

  static func pipeKeyBesideTerminal(_ key: String) -> Diagnostic {
    Diagnostic(
      .keyBesideTerminal,
      "\"\(key)\" has no effect with \"tty\": the step reads and writes the terminal directly",
      help: "remove one of the two")
  }

  static func invalidID(_ text: String, fault: StepID.ParseError) -> Diagnostic {
    Diagnostic(
      .invalidID, "the id \(quoted(text)) \(fault.complaint)",
      help: StepID.ParseError.rule)
  }

  static func bothLoopKeys(_ first: String, _ second: String) -> Diagnostic {
    Diagnostic(
      .severalActions, "found both \"\(first)\" and \"\(second)\", expected one of them",
      help: "put one of them on an enclosing group")
  }
}
