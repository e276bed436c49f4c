import WeftDiagnostics

/// Problems with the keys for conditions, retries, loops, waits and other control of steps.
enum ControlProblem: Hashable {
  case missingKey(path: String, key: String, example: String)
  // Combinations of keys
  case misplacedKey(StepKey, of: ActionKind)
  case keyInCleanup(StepKey)
  case bothFanOuts(String, String)
  case settingOfOtherFile(StepKey)
  case twoShells
  // Retrying
  case factorOutOfRange(path: String, number: String)
  case delayBeyondLimit(path: String, delay: Duration, limit: Duration)
  case delayTooLong(path: String, delay: Duration, limit: Duration)
  case expressionInList(path: String)
  // Groups and loops
  case joinOfMore(path: String, wanted: Int, members: Int)
  case expressionInside(path: String)
  case noExpression(path: String, text: String, wanted: String)
  case contextName(String)
  case emptyMatrix(path: String)
  case tooManyElements(path: String, count: String)
  case invalidTolerance(path: String, text: String)
  case invalidRate(path: String, text: String, fault: Rate.Fault)
  // Waits and other files
  case invalidMoment(path: String, text: String, fault: MomentText.Fault)
  case absolutePath(path: String, text: String)
  case invalidActionName(String, fault: StepID.Fault)
  case noCondition(path: String, wanted: String)
}

extension ControlProblem {
  var wording: Problem.Wording {
    switch self {
    case .misplacedKey, .keyInCleanup, .settingOfOtherFile: placing
    case .missingKey(let path, let key, let example):
      .init(.missingKey, "\(path) has no \"\(key)\", and must have one", help: "write \(example)")
    case .bothFanOuts(let first, let second):
      .init(
        .severalActions, "found both \"\(first)\" and \"\(second)\", expected one of them",
        help: "put one of them on a group around the step")
    case .twoShells:
      .init(
        .severalActions, "found both \"shell\" and \"defaults.shell\", expected one of them",
        help: "they mean the same; keep \"shell\"")
    case .noCondition(let path, let wanted):
      .init(
        .empty, "\(path) is empty, expected \(wanted)",
        help: "write an expression such as \"inputs.release\", or leave the key out")
    case .factorOutOfRange(let path, let number):
      .init(
        .numberOutOfRange,
        "\(path) is \(shortened(number)), expected a number from "
          + "\(WorkflowLimits.retryFactor.lowerBound) to \(WorkflowLimits.retryFactor.upperBound)")
    case .delayBeyondLimit(let path, let delay, let limit):
      .init(
        .unfitValue,
        "\(path) is \(DurationText.text(of: delay)), longer than \"maxDelay\", which is "
          + DurationText.text(of: limit),
        help: "no attempt would ever wait that long")
    case .delayTooLong(let path, let delay, let limit):
      .init(
        .invalidDuration,
        "\(path) is \(DurationText.text(of: delay)), expected \(DurationText.text(of: limit)) at most"
      )
    case .expressionInList(let path):
      .init(
        .expression, "\(path) has an expression in it, and none can stand in a list of policies",
        help: "expressions stand where \"retry\" is a number, or one object")
    case .joinOfMore(let path, let wanted, let members):
      .init(
        .unfitValue,
        "\(path) is \(wanted), and the group has \(members == 1 ? "1 member" : "\(members) members")",
        help: members == 0 ? nil : "at most \(members) can succeed")
    case .expressionInside(let path):
      .init(
        .expression, "\(path) is written out and has an expression in it, and none can stand there",
        help: "give the whole value by one expression, such as \"${{ fromJSON(inputs.list) }}\"")
    case .noExpression(let path, let text, let wanted):
      .init(
        .wrongType, "\(path) is the text \(quoted(text)), expected \(wanted)",
        help: "an expression is written \"${{ … }}\"")
    case .contextName(let name):
      .init(
        .invalidID, "the name \(quoted(name)) is taken: expressions mean something else by it",
        help: "choose another name; \"item\" always is the element")
    case .emptyMatrix(let path):
      .init(
        .empty, "\(path) has neither an axis nor \"include\"",
        help: "write { \"os\": [\"linux\", \"macos\"] }")
    case .tooManyElements(let path, let count):
      .init(
        .tooManyElements,
        "\(path) makes \(count) of one step, and \(WorkflowLimits.elements) is the most",
        help: "split it, or let each step do several")
    case .invalidTolerance(let path, let text):
      .init(
        .wrongType, "\(path) is \(quoted(text)), expected a whole number, or a part like \"10%\"",
        help: isCount(text)
          ? "write \(text) without quotes, or \"\(text)%\"" : "a part is from \"0%\" to \"100%\"")
    case .invalidRate(let path, let text, let fault):
      .init(.invalidRate, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
    case .invalidMoment(let path, let text, let fault):
      .init(.invalidMoment, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
    case .invalidActionName(let name, let fault):
      .init(
        .invalidID, "the name \(quoted(name)) \(fault.complaint)",
        help: "the name of an action is letters, digits, \"_\", \"-\" and \".\", "
          + "\(StepID.longest) at most, and begins with a letter or \"_\"")
    case .absolutePath(let path, let text):
      .init(
        .absolutePath, "\(path) is the absolute path \(quoted(text)), expected a relative one",
        help: "it is relative to the file that it stands in")
    }
  }
}
