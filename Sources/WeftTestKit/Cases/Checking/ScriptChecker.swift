import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning

/// Checks the scripted results of a layer: whether their steps exist, can have them, and ever get them.
struct ScriptChecker {
  private(set) var findings: CheckFindings
  /// The most engines of any case that the results apply to.
  private let engines: Int

  init(_ findings: CheckFindings, engines: Int) {
    (self.findings, self.engines) = (findings, engines)
  }

  mutating func check(_ scripts: [StepScript]) {
    var addresses: [String: Placed<String>] = [:]
    var patterns: [(pattern: StepPattern, name: Placed<String>)] = []
    for script in scripts {
      let found = findings.find(script.pattern)
      guard !found.isEmpty else { continue }
      let pattern = StepPattern(script.pattern.value)
      // An exact address comes before any pattern.
      let other =
        pattern.isExact
        ? addresses.updateValue(script.pattern, forKey: pattern.text)
        : patterns.first { $0.pattern.includes(pattern) }?.name
      if let other { reportHidden(script.pattern, by: other, isExact: pattern.isExact) }
      if !pattern.isExact { patterns.append((pattern, script.pattern)) }
      for result in script.results { check(result, of: script, found) }
      checkCount(script, found)
    }
  }

  /// Reports results that are never used, because others come first.
  private mutating func reportHidden(
    _ name: Placed<String>, by other: Placed<String>, isExact: Bool
  ) {
    findings.report(
      CaseCode.unfitResult,
      isExact
        ? "\(quoted(name.value)) is the same step as \(quoted(other.value)), which has results already"
        : "\(quoted(name.value)) never applies, because \(quoted(other.value)) comes before it",
      at: name.range,
      help: isExact ? "remove one of them" : "write it before \(quoted(other.value))",
      related: ("the first is here", other.range))
  }

  /// Reports results for more attempts than any of the steps can have.
  private mutating func checkCount(_ script: StepScript, _ found: [AddressShapes.Shape]) {
    guard script.results.count > 1 else { return }
    let most = found.map { findings.mostExecutions(of: $0) }.max() ?? .max
    let (limit, isMany) = most.multipliedReportingOverflow(by: engines)
    guard !isMany, script.results.count > limit else { return }
    findings.report(
      CaseCode.unfitResult,
      "\(quoted(script.pattern.value)) has \(Count(script.results.count, "result")), and at most "
        + "\(Count(limit, "attempt"))", at: script.results[limit].range,
      help: limit == 1
        ? "a step is tried again if it has \"retry\" or \"restart\", or if the case has \"resume\""
        : nil)
  }

  /// A result must fit one of the steps that it may be for.
  private mutating func check(
    _ result: ScriptedResult, of script: StepScript, _ found: [AddressShapes.Shape]
  ) {
    let faults = found.map { fault(in: result, for: $0) }
    guard !faults.contains(where: { $0 == nil }), case let fault?? = faults.first else { return }
    findings.report(
      CaseCode.unfitResult, "\(quoted(script.pattern.value)) \(fault.message)",
      at: fault.key.flatMap { result.keys[$0] } ?? script.pattern.range, help: fault.help)
  }

  private func fault(in result: ScriptedResult, for shape: AddressShapes.Shape) -> UnfitResult? {
    guard case .step(let index) = findings.plan.nodes[shape.node] else {
      return UnfitResult(
        message: "is a group, which has no result of its own",
        help: findings.members(of: shape).map { "script its steps: \($0)" })
    }
    let step = findings.plan.steps[Int(index)]
    let allowed: Set<String>
    let act: String
    switch step.kind {
    case .run:
      let isService = step.step.action.command?.service != nil
      (act, allowed) = (
        isService ? "runs a service" : "runs a command",
        [
          "exit", "signal", "stdout", "stderr", "outputs", "fails", "takes", "never", "stopsAfter",
          isService ? "readyAfter" : "real",
        ]
      )
    case .http: (act, allowed) = ("sends requests", ["http", "fails", "takes", "never", "real"])
    case .use:
      (act, allowed) = (
        "runs a registered action",
        ["returns", "stdout", "outputs", "fails", "takes", "never", "stopsAfter"]
      )
    case .approve: (act, allowed) = ("asks for approval", ["approve", "takes", "never"])
    case .wait:
      return UnfitResult(
        message: "only waits", help: "it needs no result: virtual time passes by itself")
    case .compute:
      return UnfitResult(message: "only computes its outputs", help: "it needs no result")
    case .workflow, .steps, .parallel, .race:
      return UnfitResult(message: "is a group, which has no result of its own")
    }
    if shape.isGroup, step.control.fanOut != nil {
      return UnfitResult(
        message: "is a loop, which has no result of its own",
        help: "script its elements: \(quoted(shape.pattern.text + "[*]"))")
    }
    if let key = result.keys.keys.sorted().first(where: { !allowed.contains($0) }) {
      return UnfitResult(
        key: key, message: "\(act), which cannot have \"\(key)\"",
        help: "it may have \(QuotedList(allowed.sorted(), conjunction: "and"))")
    }
    if step.kind == .http, result.keys["takes"] != nil, result.responses != nil {
      return UnfitResult(
        key: "takes", message: "sends requests, each of which takes its own time",
        help: "move \"takes\" into the response")
    }
    if step.kind == .http, result.responses == nil, result.failure == nil, !result.isReal,
      !result.isEndless
    {
      return UnfitResult(
        message: "sends requests, and has no response",
        help: "write { \"http\": { \"status\": 200, \"body\": \"…\" } }")
    }
    if step.kind == .approve, result.approves == nil, !result.isEndless {
      return UnfitResult(
        message: "asks for approval, and has no answer",
        help: "write { \"approve\": true }, or { \"never\": true } for a question that stays open")
    }
    return result.fault(of: step, in: findings.plan) ?? outputFault(in: result, of: step)
  }

  private func outputFault(in result: ScriptedResult, of step: PlannedStep) -> UnfitResult? {
    guard let outputs = result.outputs else { return nil }
    let declared = step.outputs.filter { $0.value == nil }.map(\.name)
    guard let unknown = outputs.members.map(\.key).first(where: { !declared.contains($0) }) else {
      return nil
    }
    if step.outputs.contains(where: { $0.name == unknown }) {
      return UnfitResult(
        key: "outputs", message: "computes its output \"\(unknown)\" by an expression",
        help: "script what the expression reads, such as \"stdout\"")
    }
    return UnfitResult(
      key: "outputs", message: "has no output \"\(unknown)\"",
      help: NearestName(declared).nearest(to: unknown).asSuggestion)
  }
}
