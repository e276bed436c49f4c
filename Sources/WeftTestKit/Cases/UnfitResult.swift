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
  func fault(of step: PlannedStep) -> UnfitResult? {
    if isEndless, duration != nil {
      return UnfitResult(
        key: "takes", message: "never ends in this result, so it cannot take a time",
        help: "write \"stopsAfter\" for the time that it takes to end when it is stopped")
    }
    if let failure, let reason = ScriptedResult.reason(against: failure, of: step) {
      return UnfitResult(
        key: "fails", message: "cannot fail with class \(failure.name): \(reason)")
    }
    return responses?.lazy.compactMap(\.fault).first
  }

  /// The reason why a step cannot fail with a class; `nil` if it can.
  private static func reason(against failure: ErrorClass, of step: PlannedStep) -> String? {
    let family = ErrorClass(String(failure.name.prefix { $0 != ":" })) ?? failure
    let (foreign, noun): (Set<ErrorClass>, String) =
      switch step.kind {
      case .http: ([.exit, .signal, .lost, .stall, .action, .rejected], "it sends requests")
      case .use: (notOfActions, "it runs a registered action")
      default: (notOfCommands, "it runs a command")
      }
    if foreign.contains(family) { return noun }
    let (limit, computed) = (step.step.timeout, step.step.computed)
    if family == .timeout, step.kind != .http, limit == nil, computed[.timeout] == nil {
      return "it has no \"timeout\""
    }
    let stallLimit = step.command?.stallTimeout
    if family == .stall, stallLimit == nil, computed[.stallTimeout] == nil {
      return "it has no \"stallTimeout\""
    }
    return nil
  }

  private static let ofRequests: Set<ErrorClass> = [
    .network, .http, .redirect, .protocol, .decode, .rejected,
  ]
  private static let notOfCommands = ofRequests.union([.action])
  private static let notOfActions = ofRequests.union([.exit, .signal, .lost, .stall])
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
