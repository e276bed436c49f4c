import WeftDefinition

extension RandomWorkflow {
  /// The workflow for debugging a seed: a line for each step, with everything that affects it.
  var outline: String {
    var lines = ["\(workflow.body.order), onFailure \(workflow.onFailure)"]
    lines += workflow.timeout.map { ["timeout \($0)"] } ?? []
    if let machine { lines.append("\(machine.cpus) processors, \(machine.mebibytes) MiB") }
    lines += workflow.pools.map { "pool \($0.name): \($0.slots) slots, \(describe($0.rate))" }
    add(workflow.body.members, to: &lines, indent: "  ")
    if !workflow.finally.isEmpty { lines.append("finally") }
    add(workflow.finally, to: &lines, indent: "  ")
    return lines.joined(separator: "\n")
  }

  private func add(_ steps: [Step], to lines: inout [String], indent: String) {
    for step in steps {
      let id = step.id?.text ?? "?"
      lines.append("\(indent)\(id) " + words(about: step, id).joined(separator: ", "))
      if case .group(let group) = step.action {
        add(group.members, to: &lines, indent: indent + "  ")
      }
      for (index, cleaning) in step.control.cleanup.enumerated() {
        let count = step.control.cleanup.count
        let address = count == 1 ? "\(id).cleanup" : "\(id).cleanup.\(index + 1)"
        lines.append(
          "\(indent)  \(address) " + words(about: cleaning, address).joined(separator: ", "))
      }
    }
  }

  private func words(about step: Step, _ id: String) -> [String] {
    var words: [String] = []
    switch step.action {
    case .group(let group):
      words.append("\(group.order)")
      if group.join != .all { words.append("join \(group.join)") }
      if let limit = group.maxParallel { words.append("maxParallel \(limit)") }
    case .wait(let waiting): words.append("wait \(waiting)")
    case .approve: words.append("approve")
    case .compute, .run, .use, .http, .workflow: break
    }
    if let service = step.service {
      words.append("service, ready within \(service.timeout), restart \(service.restarts)")
    }
    if let isIdempotent = step.control.isIdempotent { words.append("idempotent \(isIdempotent)") }
    if let response = step.control.onInterrupted { words.append("onInterrupted \(response)") }
    if let needs = step.needs { words.append("needs \(needs.map(\.name))") }
    if let condition = conditions[id] { words.append("if \(condition.text)") }
    if let timeout = step.timeout { words.append("timeout \(timeout)") }
    if step.allowFailure != .none { words.append("allowFailure \(step.allowFailure)") }
    words += step.control.retry.map { "retry \(describe($0))" }
    words += step.computed.map { "\($0.key.rawValue) \($0.value)" }.sorted()
    if let fanOut = step.control.fanOut { words.append(describe(fanOut)) }
    words += step.control.pools.map { "\($0.slots) of \($0.pool)" }
    if let requests = requests[id] {
      words += [describe(requests.cpus, "processors"), describe(requests.mebibytes, "MiB")]
        .compactMap { $0 }
    }
    words += step.outputs.map { "output \($0.name): \($0.value ?? "")" }
    words += step.settings.environment.keys.sorted().map { "reads \($0)" }
    return words
  }

  private func describe(_ amount: RandomAmount?, _ unit: String) -> String? {
    amount.map { amount in
      let otherwise = amount.source.map { " if \($0) succeeds, else \(amount.otherwise)" } ?? ""
      return "\(amount.ifSucceeded) \(unit)\(otherwise)"
    }
  }

  private func describe(_ rate: Rate?) -> String {
    rate.map { "\($0.count) per \($0.period)" } ?? "no rate"
  }

  private func describe(_ policy: RetryPolicy) -> String {
    let classes = policy.classes.map { " on \($0)" } ?? ""
    let within = policy.within.map { " within \($0)" } ?? ""
    let condition = policy.condition.map { " when \($0.text)" } ?? ""
    return "\(policy.max) after \(policy.delay)\(classes)\(within)\(condition)"
  }

  private func describe(_ fanOut: FanOut) -> String {
    switch fanOut {
    case .forEach(let loop):
      "for each of \(loop.elements), \(loop.tolerance), at once \(loop.maxParallel.map(String.init) ?? "all")"
    case .matrix(let matrix):
      "matrix \(matrix.axes.map { "\($0.name): \($0.values)" })"
    }
  }
}
