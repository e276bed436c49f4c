import WeftDiagnostics

extension Problem {
  /// The counterparts that a step has for keys of the workflow.
  private static let ofStep = [
    "inputs": "the inputs of another file are given by \"with\"",
    "pools":
      "a step takes from a pool by \"pool\"; pools are declared beside the outermost \"steps\"",
    "finally": "a step has a \"cleanup\"; \"finally\" stands beside the outermost \"steps\"",
  ]

  static let smallestWorkflow = "the smallest workflow: { \"steps\": [\"echo hello\"] }"

  var wording: Wording {
    switch self {
    case .schema(let problem): problem.wording
    case .control(let problem): problem.wording
    case .http(let problem): problem.wording
    case .caching(let problem): problem.wording
    case .notAWorkflow(let found):
      Wording(
        .wrongType, "a workflow file holds one object, found \(found)",
        help: Problem.smallestWorkflow)
    case .nothingToRun:
      Wording(
        .nothingToRun, "the workflow has neither \"steps\" nor \"parallel\"",
        help: Problem.smallestWorkflow)
    case .emptyGroup(let path):
      Wording(.emptyGroup, "\(path) is empty, so it succeeds without running anything")
    case .groupTooDeep(let path):
      Wording(
        .groupTooDeep, "\(path) is nested more than \(WorkflowLimits.groupDepth) groups deep",
        help: "order the steps by \"needs\" instead of by groups in groups")
    case .tooManySteps(let limit):
      Wording(.tooManySteps, "the workflow has more than \(limit) steps, the most that are read")
    case .tooManyProblems(let limit):
      Wording(
        .tooManyProblems,
        "the file has more than \(limit) problems, the most that are collected; "
          + "the rest of it was not checked")

    case .unknownKey(let key, let owner, let nearest):
      Wording(
        .unknownKey, "\(quoted(key)) is not a key of \(owner.noun)",
        help: nearest.map(didYouMean)
          ?? "known keys are \(owner.listing), and any that begin with x-"
      )
    case .stepKeyOfWorkflow(let key):
      Wording(
        .misplacedKey, "\"\(key)\" is a key of a step, not of the workflow",
        help: "put it into a step: { \"steps\": [{ \"\(key)\": … }] }")
    case .workflowKeyOfStep(let key):
      Wording(
        .misplacedKey, "\"\(key)\" is a key of the workflow, not of a step",
        help: Problem.ofStep[key] ?? "put it beside the outermost \"steps\" or \"parallel\"")
    case .noAction:
      Wording(
        .noAction,
        "the step has nothing to do, expected \"run\", \"http\", \"workflow\", \"use\", \"wait\", "
          + "\"approve\", \"outputs\" or a group",
        help: "add what it runs, such as \"run\": \"make test\"")
    case .severalActions(let first, let second)
    where StepGroup.Order(rawValue: first) != nil && StepGroup.Order(rawValue: second) != nil:
      Wording(
        .severalActions, "found both \"\(first)\" and \"\(second)\", expected one of them",
        help: "nest one in the other: \"\(first)\": [\"…\", { \"\(second)\": [\"…\"] }]")
    case .severalActions(let first, let second):
      Wording(
        .severalActions,
        "the step has both \"\(first)\" and \"\(second)\", expected one thing to do",
        help: "make two steps of it")

    case .pipeKeyBesideTerminal(let key):
      Wording(
        .keyBesideTerminal,
        "\"\(key)\" means nothing beside \"tty\": the step reads and writes the terminal itself",
        help: "leave out one of the two")

    case .wrongType(let path, let found, let wanted, let help):
      Wording(.wrongType, "\(path) is \(found), expected \(wanted)", help: help)
    case .empty(let path, let wanted):
      Wording(.empty, "\(path) is empty, expected \(wanted)")
    case .invalidDuration(let path, let text, let fault, let allowsZero):
      Wording(
        .invalidDuration,
        "\(path) is \(quoted(text)), \(fault.expectation(allowsZero: allowsZero))",
        help: fault.help(allowsZero: allowsZero))
    case .durationWithoutUnit(let path, let number):
      Wording(
        .invalidDuration, "\(path) is the number \(number), expected a duration like \"30s\"",
        help: "write \"\(isCount(number) ? number : "30")s\"; \(DurationText.Fault.units)")
    case .invalidSize(let path, let text, let fault):
      Wording(.invalidSize, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
    case .sizeWithoutUnit(let path, let number):
      Wording(
        .invalidSize, "\(path) is the number \(number), expected a size like \"10MB\"",
        help: "write \"\(isCount(number) ? number : "10")B\"; \(SizeText.Fault.units)")
    case .invalidID(let text, let fault):
      Wording(
        .invalidID, "the id \(quoted(text)) \(fault.complaint)",
        help: StepID.Fault.rule)
    case .numberOutOfRange(let path, let number, let wanted):
      Wording(
        .numberOutOfRange,
        "\(path) is \(shortened(number)), "
          + "expected a whole number from \(wanted.lowerBound) to \(wanted.upperBound)")
    case .unknownWord(let path, let word, let wanted, let nearest, let help):
      Wording(
        .unknownWord, "\(path) is \(quoted(word)), expected \(wanted)",
        help: nearest.map(didYouMean) ?? help)
    case .invalidVariableName(""):
      Wording(.invalidVariableName, "the name of an environment variable is empty")
    case .invalidVariableName(let name):
      Wording(
        .invalidVariableName,
        "the name of an environment variable has \"=\" in it: \(quoted(name))",
        help: "the name ends before the \"=\", the value is the text after the colon")
    case .invalidSecretName(let text, let fault?):
      Wording(
        .invalidID, "the name \(quoted(text)) \(fault.complaint)",
        help: "a name is letters, digits, \"_\" and \"-\", \(StepID.longest) at most, and begins "
          + "with a letter or \"_\"")
    case .invalidSecretName(let text, nil):
      Wording(
        .invalidID, "the name \(quoted(text)) begins with \"WEFT_\", as only Weft's own names do",
        help: "give the secret another name; its source may have any")
    case .equalNames(let name, let first):
      Wording(
        .equalNames,
        "\(quoted(name)) differs from \(quoted(first)) in upper and lower case only",
        help: "expressions do not tell the two apart; give one of them another name")
    case .repeatedName(let name, let list):
      Wording(
        .equalNames, "\(list) has two of the name \(quoted(name)), expected each name once",
        help: "give one of them another name")
    case .nul(let path):
      Wording(
        .nul, "\(path) has a NUL in it, which cannot be passed to a program",
        help: "take it out, or let the program read it from a file")
    case .severalSources(let first, let second):
      Wording(
        .severalActions,
        "the secret has both \"\(first)\" and \"\(second)\", expected one source",
        help: "keep the one that has the value")
    case .sharedDescriptor(let number):
      Wording(
        .equalNames, "descriptor \(number) is the source of two secrets, and can be read once",
        help: "use one secret in both places, or open another descriptor")
    case .timeoutOfSecret:
      Wording(
        .misplacedKey, "\"timeout\" is for a secret with \"command\", and this one has none",
        help: "leave it out: nothing is waited for")
    case .expression(let path):
      Wording(
        .expression, "\(path) has an expression in it, and none can stand there",
        help:
          "expressions stand in run, stdin, cwd, if, names and questions, in values of env, outputs, "
          + "with and http, and in place of a number, a size, a duration, a list or a truth")
    }
  }
}
