import WeftDefinition
import WeftDiagnostics

/// Short remarks on the options of a workflow, a group or a step.
enum PlanRemarks {
  /// - Parameter name: The name shown to the user.
  static func remarks(
    on step: PlannedStep, named name: String?, _ forecast: NodeForecast, _ style: PlanStyle
  ) -> [String] {
    let definition = step.step
    return DurationRemarks.remarks(on: step, forecast)
      + common(definition, name, forecast, style) + definition.action.model.remarks
      + [forecast.cached?.remark, failure(forecast)].compactMap(\.self)
      + settings(definition.settings)
  }

  private static func failure(_ forecast: NodeForecast) -> String? {
    guard !forecast.isSkipped, let failure = forecast.failure else { return nil }
    return "fails: \(failure)"
  }

  static func remarks(
    on group: PlannedGroup, named name: String?, _ forecast: NodeForecast, _ style: PlanStyle
  ) -> [String] {
    guard let step = group.step else { return [] }
    return (group.members.isEmpty ? ["empty"] : []) + common(step, name, forecast, style)
      + step.action.model.remarks
      + limit(group.maxParallel, inEachElement: step.control.fanOut != nil)
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
      needs.isEmpty ? "needs nothing" : "needs " + shortList(needs, naming: \.name)
    }
    let timeout = step.timeout.map { "timeout \(DurationText.text(of: $0))" }
    return [name, needs].compactMap(\.self) + ControlRemarks(style).remarks(on: step, forecast)
      + [timeout, tolerance(step.allowFailure)].compactMap(\.self)
      + computed(step.computed) + outputsRemarks(step)
  }

  private static func pools(of workflow: Workflow) -> [String] {
    let pools = workflow.pools.map { pool in
      "\(pool.slots) of \(pool.name)" + (pool.rate.map { " at \($0)" } ?? "")
    }
    return pools.isEmpty ? [] : ["has " + shortList(pools)]
  }

  private static func computed(_ texts: [ComputedKey: String]) -> [String] {
    if texts.isEmpty { return [] }
    // The number of retries is part of the remark on the retry policy.
    return ComputedKey.allCases.filter { $0 != .retryMax }
      .compactMap { key in texts[key].map { "\(key.rawValue) \($0)" } }
  }

  /// The outputs of a step; a step that only computes shows them in place of a command.
  private static func outputsRemarks(_ step: Step) -> [String] {
    step.action.kind == .compute || step.outputs.isEmpty
      ? [] : ["outputs " + shortList(step.outputs.map(\.name))]
  }

  private static func tolerance(_ tolerance: FailureTolerance) -> String? {
    switch tolerance {
    case .none: nil
    case .all: "may fail"
    case .classes(let classes): "may fail: " + shortList(classes.map(\.name))
    }
  }

  private static func limit(_ maxParallel: Int?, inEachElement: Bool = false) -> [String] {
    maxParallel.map { ["at most \($0) at once" + (inEachElement ? " in each element" : "")] } ?? []
  }

  /// Lists the names of variables only: values may be confidential.
  private static func settings(_ settings: CommandSettings) -> [String] {
    if settings == CommandSettings() { return [] }
    let names = settings.environment.keys.sorted()
    let set = names.filter { settings.environment[$0] != .some(nil) }
    let removed = names.filter { settings.environment[$0] == .some(nil) }
    return [
      settings.workingDirectory.map { "in \($0)" },
      settings.runner.map { "on \($0.name)" },
      settings.shell.map { "shell \($0.prefix.joined(separator: " "))" },
      set.isEmpty ? nil : "sets " + shortList(set),
      removed.isEmpty ? nil : "unsets " + shortList(removed),
      settings.environmentFiles.isEmpty
        ? nil : "reads " + shortList(settings.environmentFiles.map(\.path)),
    ].compactMap(\.self)
  }

}

/// Short remarks on the control options of a step or group: whether, how often and concurrently with what it runs.
struct ControlRemarks {
  private let usesASCII: Bool

  init(_ style: PlanStyle) { usesASCII = style.usesASCII }

  /// The option that a remark is about.
  enum Subject {
    case selection, condition, loop, retry, pools
  }

  func remarks(on step: Step, _ forecast: NodeForecast) -> [String] {
    subjects(of: step, forecast).map(\.remark)
  }

  func subjects(
    of step: Step, _ forecast: NodeForecast
  ) -> [(subject: Subject, remark: String)] {
    let skips = skips(forecast).map { (Subject.selection, $0) }
    guard step.hasControl else { return skips }
    let control = step.control
    let times = step.computed[.retryMax]
    let condition = control.condition.map { (Subject.condition, text(of: $0, forecast)) }
    let fanOut = control.fanOut.map { (Subject.loop, text(of: $0, forecast.elements)) }
    let attempts = control.retry.map { (Subject.retry, text(of: $0, times: times)) }
    let pools = control.pools.map { $0.slots == 1 ? $0.pool : "\($0.slots) of \($0.pool)" }
    return skips + [condition, fanOut].compactMap(\.self) + attempts
      + (pools.isEmpty ? [] : [(.pools, "takes " + pools.joined(separator: ", "))])
  }

  /// The reason why it does not run, if that is not its own condition.
  private func skips(_ forecast: NodeForecast) -> [String] {
    if forecast.isExcluded { return ["not selected"] }
    guard case .failsAround(let group) = forecast.condition else { return [] }
    return ["skipped with \(group)"]
  }

  private func text(of condition: Condition, _ forecast: NodeForecast) -> String {
    let bare = condition.bareText
    let text = "if \(bare)"
    switch forecast.condition {
    case .holds: return bare == "true" ? text : "\(text) (true)"
    case .fails: return bare == "false" ? "\(text): skipped" : "\(text) (false): skipped"
    case .open: return "\(text) (decided at run time)"
    case .failsAround, nil: return text
    }
  }

  // MARK: Retries

  /// - Parameter times: The expression for the number of retries.
  private func text(of policy: RetryPolicy, times: String?) -> String {
    guard policy.max > 0 || times != nil else { return "is not retried" }
    let count = times.map { Condition($0).bareText } ?? "\(policy.max)"
    return [
      count == "1" ? "retries once" : "retries \(count) times",
      policy.classes.map { "after " + $0.map(\.name).joined(separator: ", ") },
      policy.condition.map { "if \($0.bareText)" },
      policy.within.map { "within \(DurationText.text(of: $0))" },
    ].compactMap(\.self).joined(separator: " ")
  }

  // MARK: Loops

  /// - Parameter count: The number of elements, if it is known.
  private func text(of fanOut: FanOut, _ count: Int?) -> String {
    let elements =
      switch fanOut {
      case .forEach(let loop):
        "for each\(loop.name.map { " \($0)" } ?? "") of \(text(of: loop.elements, count))"
      case .matrix(let matrix): text(of: matrix, count)
      }
    let limit = fanOut.maxParallel.map { "at most \($0) at once" }
    let tolerance: String? =
      switch fanOut.tolerance {
      case .count(0): nil
      case .count(let count): "\(count) may fail"
      case .percent(let percent): "\(percent)% may fail"
      }
    return [elements, limit, tolerance].compactMap(\.self).joined(separator: ", ")
  }

  private func text(of listing: Listing, _ count: Int?) -> String {
    switch listing {
    case .computed(let condition):
      condition.bareText + (count.map { " (\($0))" } ?? "")
    case .values: "\(count ?? 0)"
    }
  }

  private func text(of matrix: Matrix, _ count: Int?) -> String {
    let axes = matrix.axes.map(\.name).joined(separator: usesASCII ? " x " : " × ")
    let changes = [
      matrix.exclude.map { _ in "exclude" }, matrix.include.map { _ in "include" },
    ].compactMap(\.self)
    let name = axes.isEmpty ? "matrix" : "matrix \(axes)"
    let number = count.map { " (\($0))" } ?? ""
    return changes.isEmpty
      ? name + number : "\(name) with \(changes.joined(separator: " and "))\(number)"
  }
}

extension PlannedGroup {
  /// The file that it runs; or else the order of the members, and the join unless it waits for all.
  var orderText: String {
    if case .workflow(let nested)? = step?.action { return nested.path }
    guard case .group(let group)? = step?.action, case .atLeast(let count) = group.join else {
      return order.rawValue
    }
    return "\(order.rawValue), at least \(count)"
  }
}
