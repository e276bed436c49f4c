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
///                 "resources"?: { "cpus"?, "memory"?, "gpus"?, "time"? },
///                 "wait"?, "approve"?: { "message" }, "use"?, "with"?: [name…],
///                 "http"?: { "method", "url", "query"?: [name…], "headers"?: [name…], "body"?, "saveTo"?,
///                            "proxy"? },
///                 CONTROL } ],
///   "nodes":  [ { "step" | "groupStart" | "groupEnd": index, "waitsFor": [node…] } ],
///   "order":  [node…] }
/// CONTROL: "needs"?, "timeout"?, "allowFailure"?, "outputs"?: [name…], "computed"?, "if"?,
///   "retry"?: [ { "max", "delay", "factor", "maxDelay", "jitter", "within"?, "on"?, "when"? } ],
///   "forEach"?: { "in", "as"?, "key"?, "maxParallel"?, "tolerate"? }, "matrix"?,
///   "pool"?: { NAME: slots }, "cleanup"?: [node…], "runs"?, "leftOut"?, "elements"?, "fails"?,
///   "cache"?: { "decision", "reasons"?: […], "because"?, "unlessChangedBy"?,
///               "elements"?: [ { "address", "decision", … } ] }
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
/// has deselected (`--only`, `--skip`, `--from`); `elements` is the number of elements of a loop. `fails` is
/// the reason why a step fails when it is about to start: it requests more `resources` than the machine has. In the summary,
/// `steps` counts each step of the file once, and `groups` counts neither the top level nor `finally`;
/// `stepsWithElements` is present if the number of elements of every loop is known.
///
/// Members that end in `Us` are in microseconds, and present if durations of earlier runs are known: `durationUs` of a
/// step is the duration of one instance; `timeBelowUs` is that of the longest path from it to an end, including itself;
/// `criticalPath` is the longest path of all, through its steps in order, with the number of steps in the plan that
/// were never measured and are assumed to take the median. New members may be added; `format` changes if one is removed
/// or changes its meaning.
struct PlanJSON {
  private var text = PrintedText()

  static func rendered(_ plan: Plan) -> [UInt8] {
    var printer = PlanJSON()
    printer.write(plan)
    return printer.text.bytes
  }

  private mutating func write(_ plan: Plan) {
    text.append("{\n")
    writeHead(of: plan)
    writeList("groups", plan.groups.indices) { $0.write(group: $1, of: plan) }
    writeList("steps", plan.steps.indices) { $0.write(step: $1, of: plan) }
    writeList("nodes", plan.nodes.indices) { $0.write(node: $1, of: plan) }
    var order = JSONWriter()
    order.numbers(plan.topologicalOrder)
    text.append("  \"order\": ")
    text.append(order.bytes)
    text.append("\n}\n")
  }

  /// Writes the members that describe the whole plan, one per line.
  private mutating func writeHead(of plan: Plan) {
    let workflow = plan.workflow
    writeMember("format") { $0.int(1) }
    if let name = workflow.name { writeMember("name") { $0.string(name) } }
    if let text = workflow.description { writeMember("description") { $0.string(text) } }
    if let file = workflow.source.value { writeMember("file") { $0.string(file.path) } }
    writeMember("onFailure") { $0.string(workflow.onFailure.rawValue) }
    if let limit = workflow.maxParallel { writeMember("maxParallel") { $0.int(limit) } }
    if let timeout = workflow.timeout {
      writeMember("timeout") { $0.string(DurationText.text(of: timeout)) }
    }
    if let concurrency = workflow.concurrency {
      writeMember("concurrency") {
        $0.object {
          $0.member("key", concurrency.key)
          $0.member("policy", concurrency.policy.rawValue)
        }
      }
    }
    if !workflow.pools.isEmpty { writeMember("pools") { $0.write(workflow.pools) } }
    if let group = plan.bodies.finallyGroup { writeMember("finally") { $0.int(group) } }
    if let expected = plan.expectedDurations {
      writeMember("criticalPath") { $0.write(expected, of: plan) }
    }
    writeMember("summary") { $0.write(PlanSummary(of: plan), edges: plan.dependencies.count) }
  }

  private mutating func writeMember(_ key: StaticString, _ write: (inout JSONWriter) -> Void) {
    var line = JSONWriter()
    write(&line)
    text.append("  \"")
    text.append(key)
    text.append("\": ")
    text.append(line.bytes)
    text.append(",\n")
  }

  private mutating func writeList(
    _ key: StaticString, _ indices: Range<Int>, _ write: (inout JSONWriter, Int) -> Void
  ) {
    text.append("  \"")
    text.append(key)
    text.append("\": [")
    var line = JSONWriter()
    for index in indices {
      text.append(index == 0 ? "\n    " : ",\n    ")
      line.removeAll()
      write(&line, index)
      line.withBytes { text.append($0) }
    }
    text.append(indices.isEmpty ? "],\n" : "\n  ],\n")
  }
}

// MARK: The parts of a plan, each on one line

extension JSONWriter {
  fileprivate mutating func write(_ summary: PlanSummary, edges: Int) {
    object {
      $0.member("steps", summary.steps)
      $0.member("groups", summary.groups)
      if summary.cleanups > 0 { $0.member("cleanups", summary.cleanups) }
      if summary.final > 0 { $0.member("finally", summary.final) }
      $0.member("stepsWithElements", summary.withElements)
      $0.member("edges", edges)
      $0.member("longestPath", summary.longestPath)
      $0.member("width", summary.width)
    }
  }

  fileprivate mutating func write(_ expected: ExpectedDurations, of plan: Plan) {
    object {
      $0.member("durationUs", expected.longestPath)
      $0.key("nodes")
      $0.numbers(plan.criticalNodes().lazy.map(Int32.init))
      if expected.guessedCount > 0 { $0.member("neverMeasured", expected.guessedCount) }
    }
  }

  fileprivate mutating func write(group index: Int, of plan: Plan) {
    let group = plan.groups[index]
    beginObject()
    if group.isTopLevel {
      if index > 0 { members(of: plan.files[group.file]) }
    } else if let address = group.address, let step = group.step {
      member("address", address.text)
      names(of: step, plan.name(of: group))
    }
    member("order", group.order.rawValue)
    if let parent = group.parent {
      member("parent", parent)
      member("start", group.startNode)
      member("end", group.endNode)
    }
    key("members")
    numbers(group.members)
    member("maxParallel", group.maxParallel)
    if case .group(let members)? = group.step?.action, case .atLeast(let count) = members.join {
      object("join") { $0.member("atLeast", count) }
    }
    if let step = group.step {
      step.action.model.write(to: &self)
      control(of: step, plan.bodies.cleanups[group.startNode], of: plan)
    }
    write(plan.forecast(of: group))
    endObject()
  }

  /// Writes the properties of the file whose top level a group is.
  private mutating func members(of file: PlannedFile) {
    let workflow = file.workflow
    member("name", workflow.name)
    member("description", workflow.description)
    member("file", workflow.source.value?.path)
    member("onFailure", workflow.onFailure.rawValue)
    if !workflow.pools.isEmpty {
      key("pools")
      write(workflow.pools)
    }
    member("finally", file.finally)
  }

  fileprivate mutating func write(step index: Int, of plan: Plan) {
    let step = plan.steps[index]
    beginObject()
    member("address", step.address.text)
    names(of: step.step, plan.name(of: step))
    member("group", step.group)
    member("node", step.node)
    member("stepsBelow", Int(plan.stepsBelow[step.node]))
    if let expected = plan.expectedDurations {
      let isMeasured = expected.steps[index].basis == .measured
      if isMeasured { member("durationUs", expected.steps[index].each) }
      member("timeBelowUs", expected.below[step.node])
    }
    if let command = step.command { write(command, of: step, in: plan) }
    step.action.model.write(to: &self)
    control(of: step.step, plan.bodies.cleanups[step.node], of: plan)
    write(plan.forecast(of: step))
    endObject()
  }

  fileprivate mutating func write(node index: Int, of plan: Plan) {
    beginObject()
    switch plan.nodes[index] {
    case .step(let step): member("step", Int(step))
    case .groupStart(let group): member("groupStart", Int(group))
    case .groupEnd(let group): member("groupEnd", Int(group))
    }
    key("waitsFor")
    numbers(plan.dependencies[index])
    endObject()
  }

  private mutating func names(of step: Step, _ name: String?) {
    member("id", step.id?.text)
    member("name", name)
    member("description", step.description)
  }

  fileprivate mutating func numbers(_ numbers: some Sequence<Int32>) {
    beginArray()
    for number in numbers { int(Int(number)) }
    endArray()
  }

  private mutating func member(_ key: StaticString, _ duration: Duration?) {
    member(key, duration.map { DurationText.text(of: $0) })
  }
}

// MARK: What a step does

extension JSONWriter {
  private mutating func write(_ command: Command, of step: PlannedStep, in plan: Plan) {
    array("arguments", of: plan.arguments(of: step))
    if command.invocation.script != nil { array("shell", of: plan.shell(of: step).prefix) }
    if case .file(let file) = command.invocation { member("scriptFile", file.path) }
    member("cwd", plan.workingDirectory(of: step))
    member("runner", plan.runner(of: step)?.name)
    let variables = plan.environment(of: step)
    let names = variables.keys.sorted()
    list("sets", names.filter { variables[$0] != .some(nil) })
    list("unsets", names.filter { variables[$0] == .some(nil) })
    // The last one wins.
    list("envFiles", plan.environmentFiles(of: step).reversed().joined().map(\.path))
  }
}

// MARK: When and how often it does it

extension JSONWriter {
  /// Writes the members that groups and steps have in common.
  private mutating func control(of step: Step, _ cleanups: Range<Int32>?, of plan: Plan) {
    if step.hasControl { write(step.control) }
    if let cleanups {
      key("cleanup")
      numbers(cleanups.lazy.map { Int32(plan.steps[Int($0)].node) })
    }
    if let needs = step.needs { array("needs", of: needs.map(\.name)) }
    member("timeout", step.timeout)
    switch step.allowFailure {
    case .none: break
    case .all: member("allowFailure", true)
    case .classes(let classes): array("allowFailure", of: classes.map(\.name))
    }
    list("outputs", step.outputs.map(\.name))
    guard !step.computed.isEmpty else { return }
    object("computed") {
      for key in ComputedKey.allCases {
        guard let text = step.computed[key] else { continue }
        $0.key(key.rawValue)
        $0.string(text)
      }
    }
  }

  private mutating func write(_ control: StepControl) {
    member("if", control.condition?.text)
    if !control.retry.isEmpty {
      array("retry") { for policy in control.retry { $0.write(policy) } }
    }
    switch control.fanOut {
    case .forEach(let loop): write(loop)
    case .matrix(let matrix):
      object("matrix") {
        for axis in matrix.axes { $0.member(axis.name, axis.values) }
        if let include = matrix.include { $0.member("include", include) }
        if let exclude = matrix.exclude { $0.member("exclude", exclude) }
        $0.writeLimits(of: .matrix(matrix))
      }
    case nil: break
    }
    guard !control.pools.isEmpty else { return }
    object("pool") {
      for request in control.pools {
        $0.key(request.pool)
        $0.int(request.slots)
      }
    }
  }

  private mutating func write(_ policy: RetryPolicy) {
    object {
      $0.member("max", policy.max)
      $0.member("delay", policy.delay)
      $0.key("factor")
      $0.double(policy.factor)
      $0.member("maxDelay", policy.maxDelay)
      $0.member("jitter", policy.jitter.rawValue)
      $0.member("within", policy.within)
      if let classes = policy.classes { $0.array("on", of: classes.map(\.name)) }
      $0.member("when", policy.condition?.text)
    }
  }

  private mutating func write(_ loop: ForEach) {
    object("forEach") {
      $0.member("in", loop.elements)
      $0.member("as", loop.name)
      $0.member("key", loop.key?.text)
      $0.writeLimits(of: .forEach(loop))
    }
  }

  private mutating func writeLimits(of fanOut: FanOut) {
    member("maxParallel", fanOut.maxParallel)
    switch fanOut.tolerance {
    case .count(0): break
    case .count(let count): member("tolerate", count)
    case .percent(let percent): member("tolerate", "\(percent)%")
    }
  }

  /// Writes a listing as in the file: a string is an expression.
  private mutating func member(_ key: String, _ listing: Listing) {
    self.key(key)
    switch listing {
    case .values(let value): self.value(value)
    case .computed(let text): string(text.text)
    }
  }

  fileprivate mutating func write(_ pools: [Pool]) {
    object {
      for pool in pools {
        $0.key(pool.name)
        $0.object {
          $0.member("slots", pool.slots)
          $0.member("rate", pool.rate?.description)
        }
      }
    }
  }

  /// Writes what is known of a step or group before the run.
  private mutating func write(_ forecast: NodeForecast) {
    switch forecast.condition {
    case .holds: member("runs", "yes")
    case .fails, .failsAround: member("runs", "no")
    case .open: member("runs", "decidedAtRunTime")
    case nil: break
    }
    if forecast.isExcluded { member("leftOut", true) }
    member("elements", forecast.elements)
    if !forecast.isSkipped { member("fails", forecast.failure) }
    guard let cached = forecast.cached else { return }
    object("cache") { $0.write(cached) }
  }

  private mutating func write(_ cached: CacheForecast) {
    switch cached.verdict {
    case .cached: member("decision", "cached")
    case .runs(let reasons):
      member("decision", "runs")
      array("reasons", of: reasons)
    case .open(let reason):
      member("decision", "decidedAtRunTime")
      member("because", reason)
    case .differs: member("decision", "differs")
    }
    member("unlessChangedBy", cached.unless?.text)
    guard !cached.elements.isEmpty else { return }
    array("elements") {
      for element in cached.elements {
        $0.object {
          $0.member("address", element.address.text)
          $0.write(element.forecast)
        }
      }
    }
  }
}
