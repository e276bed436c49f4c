import WeftDefinition

/// Short remarks on the options of a workflow, a group or a step.
enum PlanRemarks {
  private static let namesShown = 8

  /// - Parameter name: The name shown to the user.
  static func remarks(
    on step: PlannedStep, named name: String?, _ forecast: NodeForecast, _ style: PlanStyle
  ) -> [String] {
    DurationRemarks.remarks(on: step, forecast)
      + common(step.step, name, forecast, style) + action(of: step)
      + [forecast.cached?.remark].compactMap(\.self) + settings(step.step.settings)
  }

  private static func action(of step: PlannedStep) -> [String] {
    switch step.action {
    case .run(let command): remarks(on: command)
    case .workflow(let nested): given(nested.parameters)
    case .use(let call): given(call.parameters)
    case .http(let call): RequestRemarks.remarks(on: call)
    case .group, .compute, .wait, .approve: []
    }
  }

  private static func given(_ parameters: [Parameter]) -> [String] {
    parameters.isEmpty ? [] : ["with " + list(parameters.map(\.name))]
  }

  private static func remarks(on command: Command) -> [String] {
    input(of: command) + codes(of: command) + options(command.options)
  }

  static func remarks(
    on group: PlannedGroup, named name: String?, _ forecast: NodeForecast, _ style: PlanStyle
  ) -> [String] {
    guard let step = group.step else { return [] }
    var parameters: [String] = []
    if case .workflow(let nested) = step.action { parameters = given(nested.parameters) }
    return (group.members.isEmpty ? ["empty"] : []) + common(step, name, forecast, style)
      + parameters
      + limit(group.maxParallel)
      + settings(step.settings)
  }

  static func remarks(on workflow: Workflow) -> [String] {
    let timeout = workflow.timeout.map { "timeout \(DurationText.text(of: $0))" }
    let response =
      workflow.onFailure == .stop ? nil : "on failure \(workflow.onFailure.rawValue)"
    return [timeout, response, concurrency(workflow)].compactMap(\.self)
      + limit(workflow.maxParallel) + pools(of: workflow) + computed(workflow.computed)
      + settings(workflow.settings)
  }

  private static func concurrency(_ workflow: Workflow) -> String? {
    workflow.concurrency.map { "one run of \"\($0.key)\" at a time (\($0.policy.rawValue))" }
  }

  private static func common(
    _ step: Step, _ name: String?, _ forecast: NodeForecast, _ style: PlanStyle
  ) -> [String] {
    let needs = step.needs.map { needs in
      needs.isEmpty ? "needs nothing" : "needs " + list(needs.map(\.name))
    }
    let timeout = step.timeout.map { "timeout \(DurationText.text(of: $0))" }
    return [name, needs].compactMap(\.self) + ControlRemarks(style).remarks(on: step, forecast)
      + [timeout, tolerance(step.allowFailure)].compactMap(\.self)
      + computed(step.computed) + handsOn(step)
  }

  private static func pools(of workflow: Workflow) -> [String] {
    let pools = workflow.pools.map { pool in
      "\(pool.slots) of \(pool.name)" + (pool.rate.map { " at \($0)" } ?? "")
    }
    return pools.isEmpty ? [] : ["has " + list(pools)]
  }

  private static func computed(_ texts: [ComputedKey: String]) -> [String] {
    // The number of retries is part of the remark on the retry policy.
    ComputedKey.allCases.filter { $0 != .retryMax }
      .compactMap { key in texts[key].map { "\(key.rawValue) \($0)" } }
  }

  /// The outputs of a step; a step that only computes shows them in place of a command.
  private static func handsOn(_ step: Step) -> [String] {
    if case .compute = step.action { return [] }
    return step.outputs.isEmpty ? [] : ["hands on " + list(step.outputs.map(\.name))]
  }

  private static func tolerance(_ tolerance: FailureTolerance) -> String? {
    switch tolerance {
    case .none: nil
    case .all: "may fail"
    case .classes(let classes): "may fail: " + list(classes.map(\.name))
    }
  }

  private static func input(of command: Command) -> [String] {
    switch command.stdin {
    case nil: []
    case .text: ["reads text"]
    case .file(let path): ["reads \(path)"]
    case .log(let step): ["reads the log of \(step.name)"]
    }
  }

  private static func codes(of command: Command) -> [String] {
    command.successCodes == [0]
      ? [] : ["succeeds with " + list(command.successCodes.map(String.init))]
  }

  private static func options(_ options: Command.Options) -> [String] {
    [
      options.usesTerminal ? "has the terminal" : nil,
      options.usesJobserver ? "has a jobserver" : nil,
      options.stop.map(stopping),
      options.stallTimeout.map { "may be silent for \(DurationText.text(of: $0))" },
      options.leftovers == .keep ? "keeps leftovers" : nil,
      options.mergesOutput ? "merges output" : nil,
      options.logLimit == WorkflowLimits.logLimit ? nil : "log up to \(options.logLimit)",
    ].compactMap(\.self)
  }

  private static func stopping(_ stop: StopRequest) -> String {
    switch (stop.signal, stop.grace) {
    case (_, Duration.zero): "stopped by KILL at once"
    case (let signal, nil): "stopped by \(signal ?? "TERM")"
    case (let signal, let grace?):
      "stopped by \(signal ?? "TERM"), by KILL after \(DurationText.text(of: grace))"
    }
  }

  private static func limit(_ maxParallel: Int?) -> [String] {
    maxParallel.map { ["at most \($0) at once"] } ?? []
  }

  /// Lists the names of variables only: values may be confidential.
  private static func settings(_ settings: CommandSettings) -> [String] {
    let names = settings.environment.keys.sorted()
    let set = names.filter { settings.environment[$0] != .some(nil) }
    let removed = names.filter { settings.environment[$0] == .some(nil) }
    return [
      settings.workingDirectory.map { "in \($0)" },
      settings.shell.map { "shell \($0.prefix.joined(separator: " "))" },
      set.isEmpty ? nil : "sets " + list(set),
      removed.isEmpty ? nil : "unsets " + list(removed),
    ].compactMap(\.self)
  }

  private static func list(_ names: [String]) -> String {
    let more = names.count - namesShown
    return names.prefix(namesShown).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }
}
