import WeftDefinition
import WeftDiagnostics
import WeftJSON

/// The whole plan as JSON, for other programs; one step, group or node a line.
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
///                 "durationUs"?, "timeBelowUs"?, "arguments"?: […], "shell"?: […], "cwd"?, "sets"?: [name…], "unsets"?: [name…],
///                 "stdin"?, "successCodes"?, "stop"?: { "signal"?, "grace"? }, "leftovers"?,
///                 "stallTimeout"?, "mergeOutput"?, "logLimit"?, "tty"?, "jobserver"?,
///                 "wait"?, "approve"?: { "message" }, "use"?, "with"?: [name…],
///                 "http"?: { "method", "url", "query"?: [name…], "headers"?: [name…], "body"?, "saveTo"?, "proxy"? },
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
/// Indices count from 0: `group`, `parent` and the `index` of a node into `groups` and `steps`, the
/// others into `nodes`. The first group is the top level, which has no address and no nodes. `order` is
/// the order in which one slot would go through the nodes. What `?` follows is left out where there
/// is nothing to say. `arguments` is the command line as it will be started, of a script with its
/// shell in front; `cwd`, `sets` and `unsets` are what all layers around the step come to. Values of
/// variables are left out. A clean-up step is in the group of what it belongs to without being one of
/// its members, and `finally` is a group at the top level that is none of its members. What is computed
/// is told by the text of its expression, where else a duration, a list or an object would stand. A step that
/// calls an action of the embedding program has its name, `use`, and the names of what it is given, `with`; values
/// are left out, as are those of queries and headers. A step that runs another file is a group with `workflow`;
/// in it is the top level of that, a group without an address that has `onFailure` and what else the file says by
/// itself.
///
/// `runs` says of what has a condition, or is in a group that has, whether it will run, as far as that
/// is known before the run: `yes` (unless something fails), `no`, `decidedAtRunTime`; `leftOut` that
/// nobody has asked for it (`--only`, `--skip`, `--from`); `elements` for how many it is run. `steps` of the
/// summary counts each step of the file once, `groups` neither the top level nor `finally`;
/// `stepsWithElements` is there where it is known of all.
///
/// What ends in `Us` is in microseconds, and there where durations of earlier runs are known: `durationUs` of a
/// step, what one time of it took; `timeBelowUs`, the longest path from it to an end, itself included;
/// `criticalPath`, the longest of all, through its steps in their order, and how many steps of the plan were
/// never measured and are taken to be as long as the typical one. New members may come, `format` changes when one goes or changes its
/// meaning.
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

  /// The members that tell of the whole, one a line.
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
