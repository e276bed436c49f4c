import WeftDefinition
import WeftDiagnostics
import WeftJSON

/// The whole plan as JSON, for other programs; one step, group or node per line.
///
/// ```
/// { "format": 1, "name"?, "description"?, "file"?, "onFailure", "maxParallel"?, "timeout"?,
///   "concurrency"?: { "key", "policy" }, "pools"?: { NAME: { "slots", "rate"? } }, "finally"?: group,
///   "criticalPath"?: { "durationUs", "nodes": [node…], "neverMeasured"? },
///   "summary": { "steps", "groups", "cleanups"?, "finally"?, "stepsWithElements"?, "edges",
///                "longestPath", "width" },
///   "groups": [ { "address"?, "id"?, "name"?, "description"?, "order", "parent"?, "start"?, "end"?,
///                 "members": [node…], "maxParallel"?, "join"?: { "atLeast" }, "workflow"?,
///                 "with"?: [name…], "file"?, "onFailure"?, "pools"?, "finally"?, CONTROL } ],
///   "steps":  [ { "address", "id"?, "name"?, "description"?, "group", "node", "stepsBelow",
///                 "durationUs"?, "timeBelowUs"?, "arguments"?: […], "shell"?: […], "cwd"?,
///                 "sets"?: [name…], "unsets"?: [name…],
///                 "stdin"?, "successCodes"?, "stop"?: { "signal"?, "grace"? }, "leftovers"?,
///                 "stallTimeout"?, "mergeOutput"?, "logLimit"?, "tty"?, "jobserver"?,
///                 "wait"?, "approve"?: { "message" }, "use"?, "with"?: [name…],
///                 "http"?: { "method", "url", "query"?: [name…], "headers"?: [name…], "body"?, "saveTo"?,
///                            "proxy"? },
///                 CONTROL } ],
///   "nodes":  [ { "step" | "groupStart" | "groupEnd": index, "waitsFor": [node…] } ],
///   "order":  [node…] }
/// CONTROL: "needs"?, "timeout"?, "allowFailure"?, "outputs"?: [name…], "computed"?, "if"?,
///   "retry"?: [ { "max", "delay", "factor", "maxDelay", "jitter", "within"?, "on"?, "when"? } ],
///   "forEach"?: { "in", "as"?, "key"?, "maxParallel"?, "tolerate"? }, "matrix"?,
///   "pool"?: { NAME: slots }, "cleanup"?: [node…], "runs"?, "leftOut"?, "elements"?,
///   "cache"?: { "decision", "reasons"?: […], "because"?, "unlessChangedBy"? }
/// ```
///
/// Members marked `?` are omitted if they do not apply. Indices count from 0: `group`, `parent` and the `index` of a
/// node refer to `groups` and `steps`, all others to `nodes`. The first group is the top level, which has no address
/// and no nodes. `order` is the order in which one slot would walk through the nodes.
///
/// `arguments` is the command line to start, including the shell of a script; `cwd`, `sets` and `unsets` are merged
/// from all layers around the step. Values of variables are omitted. A cleanup step is in the group of the step it
/// belongs to without being one of its members, and `finally` is a group at the top level that is not a member of it.
/// For computed durations, lists and objects, the text of the expression is given instead. A step that runs an action
/// of the embedding program has the action's name, `use`, and the names of its parameters, `with`; values are omitted,
/// as are those of queries and headers. A step that runs another file is a group with `workflow`. It contains the top
/// level of that file, a group without an address that has `onFailure` and the other properties of the file.
///
/// `runs` predicts whether a step or group with a condition, or inside a group with one, will run, as far as that is
/// known before the run: `yes` (unless something fails), `no`, `decidedAtRunTime`. `leftOut` marks steps that the user
/// has deselected (`--only`, `--skip`, `--from`); `elements` is the number of elements of a loop. In the summary,
/// `steps` counts each step of the file once, and `groups` counts neither the top level nor `finally`;
/// `stepsWithElements` is present if the number of elements of every loop is known.
///
/// Members that end in `Us` are in microseconds, and present if durations of earlier runs are known: `durationUs` of a
/// step is the duration of one instance; `timeBelowUs` is that of the longest path from it to an end, including itself;
/// `criticalPath` is the longest path of all, through its steps in order, with the number of steps in the plan that
/// were never measured and are assumed to take the median. New members may be added; `format` changes if one is removed
/// or changes its meaning.
struct PlanJSON {
  private let plan: Plan
  private var text = PrintedText()

  init(_ plan: Plan) {
    self.plan = plan
  }

  func rendered() -> [UInt8] {
    var printer = self
    printer.write()
    return printer.text.bytes
  }

  private mutating func write() {
    text.append("{\n")
    for member in head() {
      text.append("  ")
      text.append(member)
      text.append(",\n")
    }
    writeList("groups", plan.groups.indices) { $0.group($1) }
    writeList("steps", plan.steps.indices) { $0.step($1) }
    writeList("nodes", plan.nodes.indices) { $0.node($1) }
    text.append("  \"order\": ")
    var order = PlanJSONLine(plan)
    order.numbers(plan.topologicalOrder)
    text.append(order.bytes)
    text.append("\n}\n")
  }

  /// The members that describe the whole plan, one per line.
  private func head() -> [[UInt8]] {
    let workflow = plan.workflow
    var lines: [[UInt8]] = []
    func add(_ key: StaticString, _ write: (inout PlanJSONLine) -> Void) {
      var line = PlanJSONLine(plan)
      write(&line)
      lines.append(Array("\"\(key)\": ".utf8) + line.bytes)
    }
    add("format") { $0.writer.int(1) }
    if let name = workflow.name { add("name") { $0.writer.string(name) } }
    if let description = workflow.description {
      add("description") { $0.writer.string(description) }
    }
    if let file = workflow.source.value { add("file") { $0.writer.string(file.path) } }
    add("onFailure") { $0.writer.string(workflow.onFailure.rawValue) }
    if let limit = workflow.maxParallel { add("maxParallel") { $0.writer.int(limit) } }
    if let timeout = workflow.timeout {
      add("timeout") { $0.writer.string(DurationText.text(of: timeout)) }
    }
    if let concurrency = workflow.concurrency {
      add("concurrency") {
        $0.writer.beginObject()
        $0.writer.member("key", concurrency.key)
        $0.writer.member("policy", concurrency.policy.rawValue)
        $0.writer.endObject()
      }
    }
    if !workflow.pools.isEmpty { add("pools") { $0.pools(workflow.pools) } }
    if let group = plan.bodies.finallyGroup { add("finally") { $0.writer.int(group) } }
    if plan.expectedDurations != nil { add("criticalPath") { $0.criticalPath() } }
    add("summary") { $0.summary() }
    return lines
  }

  private mutating func writeList(
    _ key: StaticString, _ indices: Range<Int>, _ write: (inout PlanJSONLine, Int) -> Void
  ) {
    text.append("  \"")
    text.append(key)
    text.append("\": [")
    var line = PlanJSONLine(plan)
    for index in indices {
      text.append(index == 0 ? "\n    " : ",\n    ")
      line.writer.removeAll()
      write(&line, index)
      line.writer.withBytes { text.append($0) }
    }
    text.append(indices.isEmpty ? "],\n" : "\n  ],\n")
  }
}
