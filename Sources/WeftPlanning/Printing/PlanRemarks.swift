import WeftDefinition
import WeftJSON

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
      + computed(step.computed) + outputsRemarks(step)
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
  private static func outputsRemarks(_ step: Step) -> [String] {
    if case .compute = step.action { return [] }
    return step.outputs.isEmpty ? [] : ["outputs " + list(step.outputs.map(\.name))]
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
      options.usesTerminal ? "uses the terminal" : nil,
      options.usesJobserver ? "uses the jobserver" : nil,
      options.stop.map(stopping),
      options.stallTimeout.map { "stall timeout \(DurationText.text(of: $0))" },
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

/// Short remarks on the control options of a step or group: whether, how often and concurrently with what it runs.
struct ControlRemarks {
  private let usesASCII: Bool

  init(_ style: PlanStyle) { usesASCII = style.usesASCII }

  func remarks(on step: Step, _ forecast: NodeForecast) -> [String] {
    let skips = skips(forecast)
    guard step.hasControl else { return skips }
    let control = step.control
    let times = step.computed[.retryMax]
    let condition = control.condition.map { text(of: $0, forecast) }
    let fanOut = control.fanOut.map { text(of: $0, forecast.elements) }
    let attempts = control.retry.map { text(of: $0, times: times) }
    let pools = control.pools.map { $0.slots == 1 ? $0.pool : "\($0.slots) of \($0.pool)" }
    return skips + [condition, fanOut].compactMap(\.self) + attempts
      + (pools.isEmpty ? [] : ["takes " + pools.joined(separator: ", ")])
  }

  /// The reason why it does not run, if that is not its own condition.
  private func skips(_ forecast: NodeForecast) -> [String] {
    if forecast.isExcluded { return ["not selected"] }
    guard case .failsAround(let group) = forecast.condition else { return [] }
    return ["skipped with \(group)"]
  }

  private func text(of condition: Condition, _ forecast: NodeForecast) -> String {
    let bare = ControlRemarks.bare(condition)
    let text = "if \(bare)"
    switch forecast.condition {
    case .holds: return bare == "true" ? text : "\(text) (true)"
    case .fails: return bare == "false" ? "\(text): skipped" : "\(text) (false): skipped"
    case .open: return "\(text) (decided at run time)"
    case .failsAround, nil: return text
    }
  }

  /// An expression without `${{` and `}}` around it.
  static func bare(_ condition: Condition) -> String {
    var text = condition.text[...]
    if text.hasPrefix("${{"), text.hasSuffix("}}") { text = text.dropFirst(3).dropLast(2) }
    let spaces: (Character) -> Bool = { $0.isWhitespace }
    while text.last.map(spaces) == true { text.removeLast() }
    return String(text.drop(while: spaces))
  }

  // MARK: Retries

  /// - Parameter times: The expression for the number of retries.
  private func text(of policy: RetryPolicy, times: String?) -> String {
    guard policy.max > 0 || times != nil else { return "is not retried" }
    let count = times.map { ControlRemarks.bare(Condition($0)) } ?? "\(policy.max)"
    return [
      count == "1" ? "retries once" : "retries \(count) times",
      policy.classes.map { "after " + $0.map(\.name).joined(separator: ", ") },
      policy.condition.map { "if \(ControlRemarks.bare($0))" },
      policy.within.map { "within \(DurationText.text(of: $0))" },
    ].compactMap(\.self).joined(separator: " ")
  }

  // MARK: Loops

  /// - Parameter count: The number of elements, if it is known.
  private func text(of fanOut: FanOut, _ count: Int?) -> String {
    switch fanOut {
    case .forEach(let loop): text(of: loop, count)
    case .matrix(let matrix): text(of: matrix, count)
    }
  }

  private func text(of loop: ForEach, _ count: Int?) -> String {
    let name = loop.name.map { " \($0)" } ?? ""
    let limit = loop.maxParallel.map { "at most \($0) at once" }
    let tolerance: String? =
      switch loop.tolerance {
      case .count(0): nil
      case .count(let count): "\(count) may fail"
      case .percent(let percent): "\(percent)% may fail"
      }
    return ["for each\(name) of \(text(of: loop.elements, count))", limit, tolerance]
      .compactMap(\.self).joined(separator: ", ")
  }

  private func text(of listing: Listing, _ count: Int?) -> String {
    switch listing {
    case .computed(let condition):
      ControlRemarks.bare(condition) + (count.map { " (\($0))" } ?? "")
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

/// Remarks on a request: names only, because values may be confidential.
enum RequestRemarks {
  static func remarks(on call: HTTPCall) -> [String] {
    [
      names("query", call.query), names("headers", call.headers),
      call.body.kind.map { "sends \($0)" }, auth(of: call),
      call.saveTo.map { "saves to \($0)" }, cache(of: call),
      call.shownProxy.map { "through the proxy \($0)" },
      call.polling.map {
        "polls every \(DurationText.text(of: $0.every)) until \(ControlRemarks.bare($0.until))"
      },
      paging(of: call),
      call.expectation.statuses == ["2xx"]
        ? nil : "expects \(call.expectation.statuses.joined(separator: ", "))",
    ].compactMap(\.self)
  }

  private static func names(_ what: String, _ fields: [HTTPCall.Field]) -> String? {
    fields.isEmpty ? nil : "\(what) \(fields.map(\.name).joined(separator: ", "))"
  }

  private static func cache(of call: HTTPCall) -> String? {
    switch call.cache {
    case .ofRun: "caches the response for the run"
    case .folder(let path): "caches the response in \(path)"
    case nil: nil
    }
  }

  private static func auth(of call: HTTPCall) -> String? {
    switch call.auth {
    case .bearer: "with a token"
    case .basic: "with a password"
    case nil: nil
    }
  }

  private static func paging(of call: HTTPCall) -> String? {
    switch call.paging?.next {
    case .link: "follows pages by Link"
    case .computed(let next): "follows pages by \(ControlRemarks.bare(next))"
    case nil: nil
    }
  }
}

extension HTTPCall {
  /// The URL as written, but without a user and password.
  package var shownURL: String { Self.withoutCredentials(url) }

  /// The proxy as written, but without a user and password; `nil` if there is none.
  package var shownProxy: String? {
    proxy.map { $0 == "env" ? "of the environment" : Self.withoutCredentials($0) }
  }

  private static func withoutCredentials(_ url: String) -> String {
    let bytes = Array(url.utf8)
    guard let start = url.firstRange(ofUTF8: "://") else { return url }
    let rest = bytes[start...]
    let end = rest.firstIndex { "/?#".utf8.contains($0) } ?? rest.endIndex
    guard let at = rest[..<end].lastIndex(of: UInt8(ascii: "@")) else { return url }
    return String(decoding: bytes[..<start] + Array("***".utf8) + bytes[at...], as: UTF8.self)
  }
}

extension HTTPCall.Body {
  /// The kind of body in one word; `nil` if there is none.
  var kind: String? {
    switch self {
    case .none: nil
    case .json: "json"
    case .text: "text"
    case .form: "form"
    case .multipart: "multipart"
    case .file(let path): "the file \(path)"
    }
  }
}

extension String {
  /// The offset after the first occurrence of an ASCII text.
  fileprivate func firstRange(ofUTF8 text: String) -> Int? {
    let (bytes, wanted) = (Array(utf8), Array(text.utf8))
    guard bytes.count >= wanted.count else { return nil }
    return (0...(bytes.count - wanted.count)).first { bytes[$0...].starts(with: wanted) }
      .map { $0 + wanted.count }
  }
}
