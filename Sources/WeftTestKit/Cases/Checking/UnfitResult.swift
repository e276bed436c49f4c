import WeftDefinition
import WeftHTTP
import WeftPlanning

/// The reason why a step cannot have a scripted result.
struct UnfitResult {
  /// The key at fault; `nil` for the whole.
  var key: String?
  /// A clause without subject.
  let message: String
  var help: String?
}

extension ScriptedResult {
  /// A contradiction within the result, or a failure that the step cannot have.
  func fault(of step: PlannedStep, in plan: Plan) -> UnfitResult? {
    if let fault = contradiction ?? serviceFault { return fault }
    if let failure, let reason = failure.obstacle(in: step, of: plan) {
      return UnfitResult(
        key: "fails", message: "cannot fail with class \(failure.name): \(reason)")
    }
    return responses?.lazy.compactMap(\.fault).first
  }
}

extension ScriptedResult {
  /// A time at which a service cannot be ready.
  private var serviceFault: UnfitResult? {
    guard let readyAfter else { return nil }
    if failure != nil {
      return UnfitResult(
        key: "fails", message: "is ready in this result, so it cannot have \"fails\"",
        help: "remove \"readyAfter\", or \"fails\"")
    }
    if let duration, duration < readyAfter {
      return UnfitResult(
        key: "takes", message: "ends in this result before it is ready",
        help: "\"takes\" counts from the start, as \"readyAfter\" does")
    }
    if duration == nil, let key = ["exit", "signal"].first(where: { keys[$0] != nil }) {
      return UnfitResult(
        key: key, message: "has no time at which it ends in this result",
        help: "write \"takes\" for the time from its start to its end")
    }
    return nil
  }

  /// Keys that exclude each other.
  private var contradiction: UnfitResult? {
    let first = { (names: [String]) in names.first { keys[$0] != nil } }
    if isEndless, keys["takes"] != nil {
      return UnfitResult(
        key: "takes", message: "never ends in this result, so it cannot take a time",
        help: "write \"stopsAfter\" for the time that it takes to end when it is stopped")
    }
    if isEndless, let key = first(["exit", "signal", "fails", "returns", "http", "approve"]) {
      return UnfitResult(
        key: key, message: "never ends in this result, so it cannot have \"\(key)\"",
        help: "remove \"never\", or \"\(key)\"")
    }
    let others = keys.keys.sorted().filter { $0 != "real" }
    if isReal, let key = others.first {
      return UnfitResult(
        key: key, message: "really runs, so its result cannot have \"\(key)\"",
        help: "remove it, or \"real\"")
    }
    if failure == .spawn, let key = first(["stdout", "stderr", "outputs", "stopsAfter"]) {
      return UnfitResult(
        key: key, message: "does not start in this result, so it cannot have \"\(key)\"")
    }
    return nil
  }
}

extension ErrorClass {
  /// The reason why a step cannot fail with this class; `nil` if it can.
  func obstacle(in planned: PlannedStep, of plan: Plan) -> String? {
    let (step, kind) = (planned.step, planned.kind)
    let family = ErrorClass(String(name.prefix { $0 != ":" })) ?? self
    let (foreign, noun): (Set<ErrorClass>, String) =
      switch kind {
      case .http: ([.exit, .signal, .lost, .stall, .action, .rejected], "it sends requests")
      case .use: (ErrorClass.notOfActions, "it runs a registered action")
      case .run: (ErrorClass.notOfCommands, "it runs a command")
      case .approve:
        (
          ErrorClass.notOfCommands.subtracting([.rejected]).union(ErrorClass.ofPrograms),
          "it asks for approval"
        )
      case .wait, .compute:
        (ErrorClass.notOfCommands.union(ErrorClass.ofPrograms), "it runs nothing")
      case .workflow, .steps, .parallel, .race: ([], "")
      }
    if foreign.contains(family) { return noun }
    if family == .timeout, !planned.hasTimeLimit(in: plan) { return "it has no \"timeout\"" }
    if family == .stall, step.action.command?.stallTimeout == nil,
      step.computed[.stallTimeout] == nil
    {
      return "it has no \"stallTimeout\""
    }
    return nil
  }

  private static let ofPrograms: Set<ErrorClass> = [.exit, .signal, .spawn, .lost, .stall, .runner]
  private static let ofRequests: Set<ErrorClass> = [
    .network, .http, .redirect, .protocol, .decode, .rejected,
  ]
  private static let notOfCommands = ofRequests.union([.action])
  private static let notOfActions = ofRequests.union([.exit, .signal, .lost, .stall, .runner])
}

extension PlannedStep {
  /// Whether an attempt ends as `timeout` after some time: its own limit, or a default one.
  fileprivate func hasTimeLimit(in plan: Plan) -> Bool {
    kind == .http || step.timeout != nil || step.computed[.timeout] != nil
      || step.action.command?.service != nil
      || plan.bodies.cleanupSteps.contains { plan.steps[$0].node == node }
  }
}

extension ScriptedResponse {
  fileprivate var fault: UnfitResult? {
    if failure != nil, hasContent {
      return UnfitResult(
        key: "http", message: "has a response that fails, which has no status, headers or body")
    }
    for header in headers {
      do throws(RequestError) {
        try HTTPHeader(header.name, header.value).checkLine()
      } catch {
        return UnfitResult(
          key: "http", message: "has a response with an invalid header: \(error.message)")
      }
    }
    return nil
  }
}
