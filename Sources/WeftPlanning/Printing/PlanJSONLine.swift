import WeftDefinition
import WeftDiagnostics
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

/// The control options of steps and groups.
extension PlanJSONLine {
  mutating func control(of step: Step, at node: Plan.NodeIndex) {
    if step.hasControl {
      let control = step.control
      if let condition = control.condition { writer.member("if", condition.text) }
      if !control.retry.isEmpty { retry(control.retry) }
      switch control.fanOut {
      case .forEach(let loop): forEach(loop)
      case .matrix(let matrix): self.matrix(matrix)
      case nil: break
      }
      if !control.pools.isEmpty { pools(control.pools) }
    }
    if let steps = plan.bodies.cleanups[node] {
      writer.key("cleanup")
      numbers(steps.map { Int32(plan.steps[Int($0)].node) })
    }
  }

  /// Writes what is known of it before the run.
  mutating func forecast(_ forecast: NodeForecast) {
    switch forecast.condition {
    case .holds: writer.member("runs", "yes")
    case .fails, .failsAround: writer.member("runs", "no")
    case .open: writer.member("runs", "decidedAtRunTime")
    case nil: break
    }
    if forecast.isLeftOut { writer.member("leftOut", true) }
    if let elements = forecast.elements { writer.member("elements", elements) }
    forecast.cached.map { cached($0) }
  }

  private mutating func cached(_ forecast: CacheForecast) {
    writer.key("cache")
    writer.beginObject()
    switch forecast.verdict {
    case .cached: writer.member("decision", "cached")
    case .runs(let reasons):
      writer.member("decision", "runs")
      strings("reasons", reasons)
    case .open(let reason):
      writer.member("decision", "decidedAtRunTime")
      writer.member("because", reason)
    }
    if let step = forecast.unless { writer.member("unlessChangedBy", step.text) }
    writer.endObject()
  }

  /// Writes the properties of the file whose top level a group is.
  mutating func topLevel(of file: PlannedFile) {
    let workflow = file.workflow
    if let name = workflow.name { writer.member("name", name) }
    if let description = workflow.description { writer.member("description", description) }
    if let source = workflow.source.value { writer.member("file", source.path) }
    writer.member("onFailure", workflow.onFailure.rawValue)
    if !workflow.pools.isEmpty {
      writer.key("pools")
      pools(workflow.pools)
    }
    if let group = file.finally { writer.member("finally", group) }
  }

  /// Writes the action of a step that runs no command.
  mutating func deed(of action: StepAction) {
    switch action {
    case .wait(let waiting): wait(waiting)
    case .approve(let approval):
      writer.key("approve")
      writer.beginObject()
      writer.member("message", approval.message)
      writer.endObject()
    case .workflow(let nested):
      writer.member("workflow", nested.path)
      given(nested.parameters)
    case .use(let call):
      writer.member("use", call.name.text)
      given(call.parameters)
    case .http(let call): request(call)
    case .run, .group, .compute: break
    }
  }

  /// Writes the destination of a request; its contents may be confidential.
  private mutating func request(_ call: HTTPCall) {
    writer.key("http")
    writer.beginObject()
    writer.member("method", call.method)
    writer.member("url", call.shownURL)
    if !call.query.isEmpty { strings("query", call.query.lazy.map(\.name)) }
    if !call.headers.isEmpty { strings("headers", call.headers.lazy.map(\.name)) }
    if let kind = call.body.kind { writer.member("body", kind) }
    if let path = call.saveTo { writer.member("saveTo", path) }
    if let proxy = call.shownProxy { writer.member("proxy", proxy) }
    writer.endObject()
  }

  /// Writes the names only: values may be confidential.
  private mutating func given(_ parameters: [Parameter]) {
    if !parameters.isEmpty { strings("with", parameters.lazy.map(\.name)) }
  }

  mutating func join(of group: PlannedGroup) {
    guard case .group(let members)? = group.step?.action, case .atLeast(let count) = members.join
    else { return }
    writer.key("join")
    writer.beginObject()
    writer.member("atLeast", count)
    writer.endObject()
  }

  mutating func pools(_ pools: [Pool]) {
    writer.beginObject()
    for pool in pools {
      writer.key(pool.name)
      writer.beginObject()
      writer.member("slots", pool.slots)
      if let rate = pool.rate { writer.member("rate", rate.description) }
      writer.endObject()
    }
    writer.endObject()
  }

  private mutating func pools(_ requests: [PoolRequest]) {
    writer.key("pool")
    writer.beginObject()
    for request in requests {
      writer.key(request.pool)
      writer.int(request.slots)
    }
    writer.endObject()
  }

  private mutating func wait(_ waiting: Waiting) {
    switch waiting {
    case .duration(let duration): writer.member("wait", DurationText.text(of: duration))
    case .computedDuration(let text): writer.member("wait", text.text)
    case .until(let moment): until(moment.text)
    case .computedMoment(let text): until(text.text)
    }
  }

  private mutating func until(_ text: String) {
    writer.key("wait")
    writer.beginObject()
    writer.member("until", text)
    writer.endObject()
  }

  private mutating func retry(_ policies: [RetryPolicy]) {
    writer.key("retry")
    writer.beginArray()
    for policy in policies {
      writer.beginObject()
      writer.member("max", policy.max)
      writer.member("delay", DurationText.text(of: policy.delay))
      writer.key("factor")
      writer.double(policy.factor)
      writer.member("maxDelay", DurationText.text(of: policy.maxDelay))
      writer.member("jitter", policy.jitter.rawValue)
      if let limit = policy.within { writer.member("within", DurationText.text(of: limit)) }
      if let classes = policy.classes { strings("on", classes.lazy.map(\.name)) }
      if let condition = policy.condition { writer.member("when", condition.text) }
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func forEach(_ loop: ForEach) {
    writer.key("forEach")
    writer.beginObject()
    listing("in", loop.elements)
    if let name = loop.name { writer.member("as", name) }
    if let key = loop.key { writer.member("key", key.text) }
    if let limit = loop.maxParallel { writer.member("maxParallel", limit) }
    switch loop.tolerance {
    case .count(0): break
    case .count(let count): writer.member("tolerate", count)
    case .percent(let percent): writer.member("tolerate", "\(percent)%")
    }
    writer.endObject()
  }

  private mutating func matrix(_ matrix: Matrix) {
    writer.key("matrix")
    writer.beginObject()
    for axis in matrix.axes { listing(axis.name, axis.values) }
    if let include = matrix.include { listing("include", include) }
    if let exclude = matrix.exclude { listing("exclude", exclude) }
    writer.endObject()
  }

  /// Writes a listing as in the file: a string is an expression.
  private mutating func listing(_ key: String, _ listing: Listing) {
    writer.key(key)
    switch listing {
    case .values(let value): writer.value(value)
    case .computed(let text): writer.string(text.text)
    }
  }
}
