import WeftDefinition
import WeftExpressions

/// What an expression may read where it stands, and what it must come to there.
///
/// | text | may read |
/// |---|---|
/// | names, the key of `concurrency`, and computed keys of groups and the workflow: needed before anything starts | `inputs run workflow` |
/// | `env` of the workflow | these, `env`, `secrets` |
/// | `cwd` of the workflow | these, `env` |
/// | all else of steps and groups | these, `env`, `steps` |
/// | `env`, `stdin` and `outputs` of steps and groups | `secrets` too |
/// | what a request sends | `secrets` too |
/// | `outputs` of steps and groups, and what a request does with its answer | `self` too |
struct SiteRules {
  let site: TextSite
  let owner: TextOwner

  /// Whether the text is needed before the first step starts.
  var isEarly: Bool {
    switch (site, owner) {
    case (.name, _), (.concurrencyKey, _), (.computed, .workflow), (.computed, .group): true
    default: false
    }
  }

  /// What is wrong with a context there; `nil` if nothing is.
  ///
  /// - Parameter name: How the reference calls it.
  func obstacle(to context: ValueContext, called name: String) -> ValueProblem? {
    switch context {
    case .inputs, .run, .workflow: nil
    case .secrets: allowsSecrets ? nil : .secret(in: site)
    case .env: isEarly ? unavailable(name, tooEarly) : nil
    case .steps:
      isEarly || owner.isWorkflow && !isOutput ? unavailable(name, tooEarly) : nil
    // Whether there is a loop is for those who know what is around.
    case .item, .index, .matrix: isEarly ? unavailable(name, tooEarly) : nil
    case .itself:
      readsItself
        ? nil
        : unavailable(
          name,
          "\"self\" is a step's own result, in its \"outputs\" and in \"when\" of \"retry\"; "
            + "of a request also where an answer is looked at")
    }
  }

  /// What is wrong with calling a function there.
  func obstacle(to function: ExpressionFunction) -> ValueProblem? {
    if function.status != nil, site != .condition {
      return .unavailable("\(function.rawValue)()", in: site, help: "it is for conditions")
    }
    guard function == .hashFiles, isEarly else { return nil }
    return .unavailable("hashFiles()", in: site, help: tooEarly)
  }

  var allowsSecrets: Bool {
    switch site {
    case .variable, .input, .output: true
    // The elements are secret then, and how many they are is told.
    case .elements: true
    // Which of another workflow's inputs may be secret, its declarations say; to an action any may be.
    case .parameter: true
    case .http(let site): site.allowsSecrets
    default: false
    }
  }

  private var isOutput: Bool { site.isOutput }

  /// Whether the result that the text is about is known.
  private var readsItself: Bool {
    if case .retryCondition = site { return true }
    if case .http(let site) = site { return site.isBare }
    return isOutput && !owner.isWorkflow
  }

  private func unavailable(_ name: String, _ help: String) -> ValueProblem {
    .unavailable(name, in: site, help: help)
  }

  private var tooEarly: String {
    owner.isWorkflow
      ? "it is needed before anything has run: use inputs, run and workflow"
      : "\(site.key) is shown, or holds, before the step starts: use inputs, run and workflow"
  }
}

extension HTTPSite {
  /// What is sent may be secret; what everybody sees, and what decides, may not.
  fileprivate var allowsSecrets: Bool {
    switch self {
    case .method, .saveTo, .cacheFolder, .bodyFile, .partFile, .authorities, .certificate, .key,
      .expected,
      .until, .origin:
      false
    case .url, .query, .header, .field, .part, .partFileName, .partType, .json, .body, .bearer,
      .user, .password, .proxy, .idempotencyKey, .nextPage, .collected:
      true
    }
  }
}
