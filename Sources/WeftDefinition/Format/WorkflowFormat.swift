import WeftDiagnostics
import WeftJSON

/// The top level of a file while it is read.
struct WorkflowDraft: FormatObject {
  var workflow: Workflow
  var body = GroupDraft()

  static let schema: StaticString = #"""
    {"oneOf": [{"required": ["steps"]}, {"required": ["parallel"]}],
    "not": {"title": "A shell twice", "required": ["shell", "defaults"],
    "properties": {"defaults": {"required": ["shell"]}}},
    "examples": [{"steps": ["swift build", "swift test"]}, {"name": "release",
    "steps": [{"id": "build", "run": "make all", "timeout": "10m"}, {"id": "checks",
    "parallel": [{"run": ["make", "test"]}, {"run": "make lint",
    "allowFailure": true}]}]}],
    "defaultSnippets": [{"label": "workflow: one after another", "body": {"name": "$1",
    "steps": ["$2"]}}, {"label": "workflow: a graph", "body": {"name": "$1",
    "parallel": [{"id": "$2", "run": "$3"}, {"id": "$4", "run": "$5",
    "needs": ["$2"]}]}}]}
    """#

  static let format = ObjectFormat<WorkflowDraft>("a workflow") {
    FormatKey(
      "$schema", "Schema of this file",
      "The location of this schema, for editors; ignored by weft.",
      schema: #"{"examples": ["../schemas/workflow.schema.json"]}"#
    ) { _, _, _, _ in }
    FormatKey(
      "name", .plainText("a name"), "Name",
      "A name for display; any text."
    ) { $0.workflow.name = $1 }
    FormatKey("description", .plainText()) { $0.workflow.description = $1 }
    FormatKey<WorkflowDraft>.commandSettings
    FormatKey(
      "maxParallel", .integer(as: .maxParallel), "",
      """
      The maximum number of steps that run at once. Default: the number of processors; -j \
      on the command line overrides it.
      """,
      synonyms: "max-parallel max_parallel parallelism", at: \.workflow.body.$maxParallel)
    FormatKey(
      "timeout", .duration(as: .timeout), "Time limit of the run",
      """
      The time limit of the run, from its start, without the cleanups of the top level and \
      "finally". Default: none.
      """,
      at: \.workflow.$timeout)
    FormatKey(
      "onFailure", .word(of: FailureResponse.self), "Effect of a failure",
      "What happens to the other steps when one fails and its failure is not allowed.",
      schema: #"""
        {"enumDescriptions": ["Start nothing new, and let running steps finish.",
        "Start nothing new, and cancel running steps.",
        "Go on with everything that does not depend on the failure; the run still fails."],
        "default": "stop"}
        """#,
      synonyms: "fail-fast failFast"
    ) { $0.workflow.onFailure = $1 }
    FormatKey(
      "steps", synonyms: "jobs tasks sequence stages", traits: .graphList
    ) { pass, member, _, draft in pass.members(.steps, member, into: &draft.body) }
    FormatKey("parallel", traits: .graphList) { pass, member, _, draft in
      pass.members(.parallel, member, into: &draft.body)
    }
    FormatKey(
      "secrets", ValueFormat { $0.secrets($1, $2) }, "Secrets",
      """
      Secrets by the names that expressions use. They are read when a run starts, and \
      masked in everything that is written or shown.
      """,
      schema: #"""
        {"type": "object", "propertyNames": "@secretName",
        "additionalProperties": "@secret",
        "examples": [{"TOKEN": {"env": "RELEASE_TOKEN"}}]}
        """#, synonyms: "secret"
    ) { $0.workflow.secrets = $1 }
    FormatKey<WorkflowDraft>.environmentPolicy
    FormatKey(
      "inputs", ValueFormat { $0.inputs($1, $2) }, "Inputs",
      """
      The values that a run accepts, with -i NAME=VALUE or --inputs FILE: a name, and the \
      type of its value. An input without a default is required.
      """,
      schema: #"""
        {"type": "object", "propertyNames": "@identifier", "additionalProperties": "@input",
        "examples": [{"version": {"type": "string", "description": "what to publish"},
        "draft": {"type": "boolean", "default": true}}],
        "defaultSnippets": [{"label": "an input", "body": {"${1:name}": {"type": "string",
        "description": "$2"}}}]}
        """#,
      synonyms: "parameters params args arguments vars in"
    ) { $0.workflow.inputs = $1 }
    FormatKey(
      "outputs", ValueFormat { $0.outputs($1, $2) }, "",
      "The outputs of a run that has succeeded.",
      schema: #"{"additionalProperties": "@givenOutput"}"#, synonyms: "out outs"
    ) { $0.workflow.outputs = $1 }
    FormatKey(
      "state", ValueFormat { $0.state($1, $2) }, "State",
      """
      Values that are kept between the runs of this file, read as state.NAME: a type, a \
      default, and the value that replaces it when a run has succeeded.
      """,
      schema: #"""
        {"type": "object", "propertyNames": "@identifier",
        "additionalProperties": "@stateVariable",
        "examples": [{"last": {"type": "string", "default": "",
        "value": "${{ steps.fetch.outputs.id }}"}}]}
        """#, synonyms: "store persist memory memo checkpoint"
    ) { $0.workflow.state = $1 }
    FormatKey(
      "pools", ValueFormat { $0.pools($1, $2) }, "Pools",
      """
      Slots that steps share, by name: a number of slots, or a number and a rate at which \
      they are taken.
      """,
      schema: #"""
        {"type": "object", "propertyNames": "@identifier",
        "additionalProperties": {"anyOf": ["@slots", "@pool"]}, "examples": [{"db": 4,
        "api": {"slots": 2, "rate": "30/1m"}}]}
        """#,
      synonyms: "semaphore lock resources resource_group queues"
    ) { $0.workflow.pools = $1 }
    FormatKey(
      "runners", ValueFormat { $0.runners($1, $2) }, "Runners",
      "The places besides this machine where commands may run, by name.",
      schema: #"""
        {"type": "object", "propertyNames": "@identifier", "additionalProperties": "@runner",
        "examples": [{"build": {"kind": "ssh", "hosts": ["build1", "me@build2"]}}]}
        """#, synonyms: "executors agents"
    ) { $0.workflow.runners = $1 }
    FormatKey(
      "finally", ValueFormat { $0.finally($1, $2) }, "Finally",
      """
      Steps and groups that run one after another when everything else has ended, whatever \
      the result.
      """,
      schema: #"{"type": "array", "items": "@step", "examples": [["make clean"]]}"#,
      synonyms: "always onExit after_all handlerOn", traits: .graphList
    ) { $0.workflow.finally = $1 }
    FormatKey(
      "defaults",
      .object(
        "defaults", "an object with \"timeout\", \"retry\" or \"shell\"", from: StepDefaults()
      ) { _ in "write { \"timeout\": \"10m\" }" },
      "Defaults", "Values for every step that runs something and does not set its own.",
      schema: #"{"examples": [{"timeout": "10m", "retry": 1}]}"#,
      synonyms: "default"
    ) { $0.workflow.defaults = $1 }
    FormatKey(
      "concurrency", ValueFormat { $0.concurrency($1, $2) }, "One run at a time",
      "Keeps runs with the same key apart: only one of them is active at a time.",
      schema: #"{"anyOf": ["@filledText", "@concurrency"]}"#,
      synonyms: "singleton mutex exclusive maxActiveRuns max_active_runs"
    ) { $0.workflow.concurrency = $1 }
  }

  static func misplaced(_ key: String, _ value: JSONNode) -> Diagnostic? {
    StepDraft.format.rule(named: key) == nil
      ? .keyElsewhere(key, value, of: format.noun) : .stepKeyOfWorkflow(key)
  }
}

extension WorkflowDraft: HasCommandSettings {
  var settings: CommandSettings {
    get { workflow.settings }
    set { workflow.settings = newValue }
  }
}

extension DecodingPass {
  /// The workflow; `nil` if too much is missing to check the rest.
  mutating func workflow(_ root: JSONNode) -> Workflow? {
    guard root.kind == .object else {
      if root.kind != .unreadable { report(.notAWorkflow(found: root.noun), at: root) }
      return nil
    }
    var draft = WorkflowDraft(
      workflow: Workflow(body: StepGroup(.steps, []), source: root.document.file))
    var reading = ObjectReading()
    let own = collectingTexts { reading = $0.read(root, .itself, into: &draft) }
    var workflow = draft.workflow
    workflow.texts = Written(own)
    checkShells(of: workflow, root)
    guard let order = draft.body.order else {
      if !reading.hasUnknownKey { report(.nothingToRun, at: root) }
      return nil
    }
    workflow.body.order = order
    workflow.body.members = draft.body.members
    return isCutShort ? nil : workflow
  }

  /// Reports a shell of the workflow beside one of its defaults.
  private mutating func checkShells(of workflow: Workflow, _ root: JSONNode) {
    guard workflow.settings.shell != nil, workflow.defaults.shell != nil,
      let shell = member("shell", of: root)?.key,
      let defaults = member("defaults", of: root)?.value,
      let inner = member("shell", of: defaults)?.key
    else { return }
    report(.twoShells, at: inner, related: ("\"shell\" is here", shell))
  }

  mutating func finally(_ node: JSONNode, _ field: Field) -> [Step]? {
    guard node.kind == .array else {
      reportNoArray(node, field)
      return nil
    }
    if node.elements.isEmpty { report(.emptyGroup(path: path(field)), at: node) }
    var steps: [Step] = []
    read(node, "finally", into: &steps)
    return steps
  }
}

// MARK: Defaults

extension StepDefaults: FormatObject {
  static let format = ObjectFormat<StepDefaults>("\"defaults\"") {
    FormatKey("timeout", .duration(as: .timeout), at: \.$timeout)
    FormatKey(
      "retry", ValueFormat { $0.retry($1, $2) },
      synonyms: "retries retryStrategy retry_policy retryPolicy"
    ) { $0.retry = $1.isEmpty ? nil : $1 }
    FormatKey("shell", ValueFormat { $0.shell($1, $2) }) { $0.shell = $1 }
  }
}

// MARK: Concurrency

struct ConcurrencyDraft: FormatObject {
  var key: String?
  var policy = Concurrency.Policy.wait

  static let key = ValueFormat<String>.text(
    "a key that runs share", at: .concurrencyKey)

  static let format = ObjectFormat<ConcurrencyDraft>("\"concurrency\"") {
    FormatKey(
      "key", key, "Key",
      "The key that runs share; expressions in it can read inputs, run and workflow.",
      synonyms: "group",
      required: "{ \"key\": \"deploy\", \"policy\": \"wait\" }"
    ) { $0.key = $1 }
    FormatKey(
      "policy", .word(of: Concurrency.Policy.self), "If another run is active",
      """
      wait: wait until it has ended. refuse: do not start, exit 4. cancelPrevious: cancel \
      it, and wait until it has ended.
      """, schema: #"{"default": "wait"}"#,
      synonyms: "cancel-in-progress cancelInProgress onConflict"
    ) { $0.policy = $1 }
  }
}

extension DecodingPass {
  /// A key, or an object of a key and a policy.
  mutating func concurrency(_ node: JSONNode, _ field: Field) -> Concurrency? {
    if node.kind == .string {
      return ConcurrencyDraft.key.read(&self, node, field).map { Concurrency(key: $0) }
    }
    let draft = object(
      node, field, from: ConcurrencyDraft(), wanted: "a string, or { \"key\": …, \"policy\": … }",
      help: "write a key that runs share, such as \"deploy\"")
    guard let draft, let key = draft.key else { return nil }
    return Concurrency(key: key, policy: draft.policy)
  }
}

extension Diagnostic {
  static func notAWorkflow(found: String) -> Diagnostic {
    Diagnostic(
      .wrongType, "a workflow file holds one object, found \(found)",
      help: smallestWorkflow)
  }

  static var nothingToRun: Diagnostic {
    Diagnostic(
      .nothingToRun, "the workflow has neither \"steps\" nor \"parallel\"",
      help: smallestWorkflow)
  }

  static func stepKeyOfWorkflow(_ key: String) -> Diagnostic {
    Diagnostic(
      .misplacedKey, "\"\(key)\" is a key of a step, not of the workflow",
      help: "move it into a step: { \"steps\": [{ \"\(key)\": … }] }")
  }

  static var twoShells: Diagnostic {
    Diagnostic(
      .severalActions, "found both \"shell\" and \"defaults.shell\", expected one of them",
      help: "they mean the same; keep \"shell\"")
  }

  static let smallestWorkflow = "the smallest workflow: { \"steps\": [\"echo hello\"] }"
}
