import WeftDefinition
import WeftJSON

/// One value of the plan's JSON, on one line.
struct PlanJSONLine {
  let plan: Plan
  var writer = JSONWriter()

  init(_ plan: Plan) {
    self.plan = plan
  }

  var bytes: [UInt8] { writer.bytes }

  mutating func summary() {
    let summary = PlanSummary(of: plan)
    writer.beginObject()
    writer.member("steps", summary.steps)
    writer.member("groups", summary.groups)
    if summary.cleanups > 0 { writer.member("cleanups", summary.cleanups) }
    if summary.final > 0 { writer.member("finally", summary.final) }
    if let all = summary.withElements { writer.member("stepsWithElements", all) }
    writer.member("edges", plan.dependencies.count)
    writer.member("longestPath", summary.longestPath)
    writer.member("width", summary.width)
    writer.endObject()
  }

  mutating func group(_ index: Int) {
    let group = plan.groups[index]
    writer.beginObject()
    if group.isTopLevel {
      if index > 0 { topLevel(of: plan.files[group.file]) }
    } else if let address = group.address, let step = group.step {
      writer.member("address", address.text)
      names(of: step, plan.name(of: group))
    }
    writer.member("order", group.order.rawValue)
    if let parent = group.parent {
      writer.member("parent", parent)
      writer.member("start", group.startNode)
      writer.member("end", group.endNode)
    }
    writer.key("members")
    numbers(group.members)
    if let limit = group.maxParallel { writer.member("maxParallel", limit) }
    join(of: group)
    group.step.map { deed(of: $0.action) }
    group.step.map { conditions(of: $0, at: group.startNode) }
    forecast(plan.forecast(of: group))
    writer.endObject()
  }

  mutating func step(_ index: Int) {
    let step = plan.steps[index]
    writer.beginObject()
    writer.member("address", step.address.text)
    names(of: step.step, plan.name(of: step))
    writer.member("group", step.group)
    writer.member("node", step.node)
    writer.member("stepsBelow", Int(plan.stepsBelow[step.node]))
    durations(of: step, index)
    command(of: step)
    deed(of: step.action)
    conditions(of: step.step, at: step.node)
    forecast(plan.forecast(of: step))
    writer.endObject()
  }

  mutating func criticalPath() {
    guard let expected = plan.expectedDurations else { return }
    writer.beginObject()
    writer.member("durationUs", expected.longestPath)
    writer.key("nodes")
    numbers(plan.criticalNodes().lazy.map(Int32.init))
    if expected.guessedCount > 0 { writer.member("neverMeasured", expected.guessedCount) }
    writer.endObject()
  }

  private mutating func durations(of step: PlannedStep, _ index: Int) {
    guard let expected = plan.expectedDurations else { return }
    if expected.steps[index].basis == .measured {
      writer.member("durationUs", expected.steps[index].each)
    }
    writer.member("timeBelowUs", expected.below[step.node])
  }

  mutating func node(_ index: Int) {
    writer.beginObject()
    switch plan.nodes[index] {
    case .step(let step): writer.member("step", Int(step))
    case .groupStart(let group): writer.member("groupStart", Int(group))
    case .groupEnd(let group): writer.member("groupEnd", Int(group))
    }
    writer.key("waitsFor")
    numbers(plan.dependencies[index])
    writer.endObject()
  }

  mutating func numbers(_ numbers: some Sequence<Int32>) {
    writer.beginArray()
    for number in numbers { writer.int(Int(number)) }
    writer.endArray()
  }

  mutating func strings(_ key: StaticString, _ strings: some Sequence<String>) {
    writer.key(key)
    writer.beginArray()
    for string in strings { writer.string(string) }
    writer.endArray()
  }

  private mutating func names(of step: Step, _ name: String?) {
    if let id = step.id { writer.member("id", id.text) }
    if let name { writer.member("name", name) }
    if let description = step.description { writer.member("description", description) }
  }

  private mutating func command(of step: PlannedStep) {
    guard let command = step.command else { return }
    strings("arguments", plan.arguments(of: step))
    if case .script = command.invocation { strings("shell", plan.shell(of: step).prefix) }
    if let folder = plan.workingDirectory(of: step) { writer.member("cwd", folder) }
    environment(plan.environment(of: step))
    command.stdin.map { input($0) }
    if command.successCodes != [0] {
      writer.key("successCodes")
      numbers(command.successCodes.lazy.map { Int32($0) })
    }
    options(command.options)
  }

  private mutating func options(_ options: Command.Options) {
    if let stop = options.stop {
      writer.key("stop")
      writer.beginObject()
      if let signal = stop.signal { writer.member("signal", signal) }
      if let grace = stop.grace { writer.member("grace", DurationText.text(of: grace)) }
      writer.endObject()
    }
    if options.leftovers != .end { writer.member("leftovers", options.leftovers.rawValue) }
    if let limit = options.stallTimeout {
      writer.member("stallTimeout", DurationText.text(of: limit))
    }
    if options.mergesOutput { writer.member("mergeOutput", true) }
    if options.logLimit != WorkflowLimits.logLimit {
      writer.member("logLimit", options.logLimit.description)
    }
    if options.usesTerminal { writer.member("tty", true) }
    if options.usesJobserver { writer.member("jobserver", true) }
  }

  private mutating func environment(_ variables: [String: String?]) {
    guard !variables.isEmpty else { return }
    let names = variables.keys.sorted()
    let (set, unset) = (
      names.filter { variables[$0] != .some(nil) }, names.filter { variables[$0] == .some(nil) }
    )
    if !set.isEmpty { strings("sets", set) }
    if !unset.isEmpty { strings("unsets", unset) }
  }

  private mutating func input(_ input: StandardInput) {
    writer.key("stdin")
    writer.beginObject()
    switch input {
    case .text(let text): writer.member("text", text)
    case .file(let path): writer.member("file", path)
    case .log(let step): writer.member("log", step.name)
    }
    writer.endObject()
  }

  /// Writes the members that groups and steps have in common.
  private mutating func conditions(of step: Step, at node: Plan.NodeIndex) {
    control(of: step, at: node)
    if let needs = step.needs { strings("needs", needs.lazy.map(\.name)) }
    if let timeout = step.timeout { writer.member("timeout", DurationText.text(of: timeout)) }
    switch step.allowFailure {
    case .none: break
    case .all: writer.member("allowFailure", true)
    case .classes(let classes): strings("allowFailure", classes.lazy.map(\.name))
    }
    if !step.outputs.isEmpty { strings("outputs", step.outputs.lazy.map(\.name)) }
    guard !step.computed.isEmpty else { return }
    writer.key("computed")
    writer.beginObject()
    for key in ComputedKey.allCases {
      guard let text = step.computed[key] else { continue }
      writer.key(key.rawValue)
      writer.string(text)
    }
    writer.endObject()
  }
}
