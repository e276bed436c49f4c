import WeftJSON

extension Step {
  /// The step as a member of a list: a script without anything else is a string.
  var json: JSONValue {
    let object = PrintedObject(of: StepDraft.self) { object in
      object["id"] = .text(id?.text)
      object["name"] = .text(name)
      object["description"] = .text(description)
      object["needs"] = needs.map { .texts($0.map(\.name)) }
      settingsAsWritten.print(&object)
      object["timeout"] = $timeout.json { $0.map(JSONValue.duration) }
      object["allowFailure"] = $allowFailure.json(unless: .none, \.json)
      object["outputs"] = .grouped(outputs.map { ($0.name, $0.json) })
      action.print(&object)
      if hasControl { control.print(&object) }
    }
    if object.hasOnly("run"), case .string(let script)? = object["run"] { return .string(script) }
    return object.json
  }

  /// The settings without a shell that the script file itself names.
  private var settingsAsWritten: CommandSettings {
    guard case .run(let command) = action, case .file(let file) = command.invocation,
      let text = file.text, let shell = settings.shell, ScriptHeader(text) == .shell(shell)
    else { return settings }
    var settings = settings
    settings.shell = nil
    return settings
  }
}

extension StepControl {
  fileprivate func print(_ object: inout PrintedObject<StepDraft>) {
    object["if"] = condition?.json
    object["retry"] = RetryPolicy.json(retry)
    switch fanOut {
    case .forEach(let loop): object["forEach"] = loop.json
    case .matrix(let matrix): object["matrix"] = matrix.json
    case nil: break
    }
    object["pool"] = PoolRequest.json(pools)
    object["cleanup"] = .oneOrMore(cleanup.map(\.json))
    object["idempotent"] = isIdempotent.map(JSONValue.bool)
    object["onInterrupted"] = .word(onInterrupted)
  }
}

extension FailureTolerance {
  fileprivate var json: JSONValue {
    switch self {
    case .none: false
    case .all: true
    case .classes(let classes): .texts(classes.map(\.name))
    }
  }
}

extension RetryPolicy {
  /// A number, a policy, or several; `nil` for none.
  static func json(_ policies: [RetryPolicy]) -> JSONValue? {
    guard let first = policies.first, policies.count == 1 else {
      return policies.isEmpty ? nil : .array(policies.map(\.object.json))
    }
    return first.object.hasOnly("max") ? first.object["max"] : first.object.json
  }

  private var object: PrintedObject<RetryDraft> {
    let usual = RetryPolicy(max: 0, delay: delay)
    return PrintedObject { object in
      object["max"] = $max.json(JSONValue.int)
      object["delay"] = $delay.json(unless: .seconds(1), JSONValue.duration)
      object["factor"] =
        factor == usual.factor ? nil : JSONNumber(factor).map(JSONValue.number)
      object["maxDelay"] = $maxDelay.json(unless: usual.maxDelay, JSONValue.duration)
      object["jitter"] = .word(jitter, unless: .full)
      object["within"] = $within.json { $0.map(JSONValue.duration) }
      object["on"] = classes.map { .texts($0.map(\.name)) }
      object["when"] = condition?.json
    }
  }
}

extension ForEach {
  fileprivate var json: JSONValue {
    PrintedObject(of: ForEachDraft.self) { object in
      object["in"] = elements.json
      object["as"] = .text(name)
      object["key"] = key?.json
      object["maxParallel"] = $maxParallel.json { $0.map(JSONValue.int) }
      object["tolerate"] = tolerance.json
    }.json
  }
}

extension FanOutTolerance {
  fileprivate var json: JSONValue? {
    switch self {
    case .count(0): nil
    case .count(let count): .int(count)
    case .percent(let percent): .string("\(percent)%")
    }
  }
}

extension Matrix {
  fileprivate var json: JSONValue {
    var members = axes.map { ($0.name, $0.values.json) }
    if let include { members.append(("include", include.json)) }
    if let exclude { members.append(("exclude", exclude.json)) }
    if let limit = $maxParallel.json({ $0.map(JSONValue.int) }) {
      members.append(("maxParallel", limit))
    }
    if let tolerance = tolerance.json { members.append(("tolerate", tolerance)) }
    return .object(JSONObject(members))
  }
}

extension PoolRequest {
  /// The name of a pool of which one slot is taken; names and slots otherwise.
  fileprivate static func json(_ requests: [PoolRequest]) -> JSONValue? {
    if let only = requests.first, requests.count == 1, only.slots == 1 { return .string(only.pool) }
    return .grouped(requests.map { ($0.pool, .int($0.slots)) })
  }
}

// MARK: Actions

extension StepAction {
  fileprivate func print(_ object: inout PrintedObject<StepDraft>) {
    switch self {
    case .run(let command): command.print(&object)
    case .group(let group): group.print(&object)
    case .compute: break
    case .wait(let waiting): object["wait"] = waiting.json
    case .approve(let approval): object["approve"] = .string(approval.message)
    case .workflow(let nested):
      object["workflow"] = .string(nested.path)
      object["with"] = nested.parameters.json
    case .use(let call):
      object["use"] = .string(call.name.text)
      object["with"] = call.parameters.json
    case .http(let call): object["http"] = call.json
    }
  }
}

extension StepGroup {
  fileprivate func print(_ object: inout PrintedObject<StepDraft>) {
    object[order.key] = .array(members.map(\.json))
    object["maxParallel"] = $maxParallel.json { $0.map(JSONValue.int) }
    if case .atLeast(let count) = join {
      object["join"] = PrintedObject(of: JoinDraft.self) { $0["atLeast"] = .int(count) }.json
    }
  }
}

extension Waiting {
  fileprivate var json: JSONValue {
    switch self {
    case .duration(let duration): .duration(duration)
    case .computedDuration(let expression): expression.whole
    case .until(let moment): Waiting.until(.string(moment.text))
    case .computedMoment(let expression): Waiting.until(expression.whole)
    }
  }

  private static func until(_ moment: JSONValue) -> JSONValue {
    PrintedObject(of: WaitDraft.self) { $0["until"] = moment }.json
  }
}

extension [Parameter] {
  fileprivate var json: JSONValue? {
    let members = map { parameter -> (String, JSONValue) in
      switch parameter.value {
      case .value(let value): (parameter.name, value)
      case .text(let text): (parameter.name, .string(text))
      }
    }
    return members.isEmpty ? nil : .object(JSONObject(members))
  }
}

extension Command {
  fileprivate func print(_ object: inout PrintedObject<StepDraft>) {
    switch invocation {
    case .file(let file):
      object["script"] =
        PrintedObject(of: ScriptFileDraft.self) { $0["file"] = .string(file.path) }.json
    case .script, .program: object["run"] = invocation.json
    }
    object["stdin"] = stdin?.json
    object["successCodes"] = successCodes == [0] ? nil : .array(successCodes.map(JSONValue.int))
    guard hasOptions else { return }
    let options = options
    object["stop"] = options.stop?.json
    object["leftovers"] = .word(options.leftovers, unless: .end)
    object["stallTimeout"] = options.$stallTimeout.json { $0.map(JSONValue.duration) }
    object["mergeOutput"] = options.$mergesOutput.json(JSONValue.flag)
    object["logLimit"] = options.$logLimit.json(unless: WorkflowLimits.logLimit, JSONValue.size)
    object["tty"] = options.$usesTerminal.json(JSONValue.flag)
    object["jobserver"] = options.$usesJobserver.json(JSONValue.flag)
    object["cache"] = options.caching?.json
    object["service"] = options.service?.json
    object["resources"] = options.resources?.json
  }
}

extension Command.Resources {
  fileprivate var json: JSONValue {
    PrintedObject(of: Command.Resources.self) { object in
      object["cpus"] = $cpus.json { $0.map(JSONValue.int) }
      object["memory"] = $memory.json { $0.map(JSONValue.size) }
      object["gpus"] = $gpus.json { $0.map(JSONValue.int) }
      object["time"] = $time.json { $0.map(JSONValue.duration) }
    }.json
  }
}

extension Command.Service {
  fileprivate var json: JSONValue {
    PrintedObject(of: ServiceDraft.self) { object in
      object["ready"] =
        PrintedObject(of: ProbeDraft.self) { probe in
          switch ready {
          case .tcp(let address): probe["tcp"] = .string(address)
          case .http(let url): probe["http"] = .string(url)
          case .log(let pattern): probe["log"] = .string(pattern)
          case .run(let invocation): probe["run"] = invocation.json
          }
        }.json
      object["timeout"] = $timeout.json(unless: Command.Service.timeout, JSONValue.duration)
      object["restart"] = $restarts.json(unless: 0, JSONValue.int)
    }.json
  }
}

extension Command.Invocation {
  fileprivate var json: JSONValue {
    switch self {
    case .script(let script): .string(script)
    case .program(let arguments): .texts(arguments)
    case .file(let file): .string(file.path)
    }
  }
}

extension StandardInput {
  fileprivate var json: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .file(let path):
      PrintedObject(of: StandardInputDraft.self) { $0["file"] = .string(path) }.json
    case .log(let need):
      PrintedObject(of: StandardInputDraft.self) { $0["log"] = .string(need.name) }.json
    }
  }
}

extension StopRequest {
  fileprivate var json: JSONValue? {
    PrintedObject(of: StopDraft.self) { object in
      object["signal"] = .text(signal)
      object["grace"] = $grace.json { $0.map(JSONValue.duration) }
    }.jsonIfAny
  }
}

extension Command.Caching {
  fileprivate var json: JSONValue {
    PrintedObject(of: Command.Caching.self) { object in
      object["inputs"] = .texts(inputs)
      object["outputs"] = outputs.isEmpty ? nil : .texts(outputs)
      object["env"] = environment.isEmpty ? nil : .texts(environment)
      object["key"] = .text(key)
      object["version"] = version?.json
    }.json
  }
}
