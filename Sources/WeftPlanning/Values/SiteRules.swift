import WeftDefinition
import WeftExpressions

/// The contexts that an expression may read at a site, and what it must evaluate to there.
///
/// | text | may read |
/// |---|---|
/// | names, `concurrency.key`, computed keys of groups and workflows (evaluated statically) | `inputs run workflow` |
/// | `env` of the workflow | these, `env`, `secrets` |
/// | `cwd` of the workflow | these, `env` |
/// | all else of steps and groups | these, `env`, `steps` |
/// | `env`, `stdin` and `outputs` of steps and groups | `secrets` too |
/// | contents of a request | `secrets` too |
/// | `outputs` of steps and groups, and what a request does with its response | `self` too |
struct SiteRules {
  let site: TextSite
  let owner: TextOwner

  /// Whether the text is evaluated before the first step starts.
  var isEarly: Bool {
    switch (site, owner) {
    case (.name, _), (.concurrencyKey, _), (.computed, .workflow), (.computed, .group): true
    default: false
    }
  }

  /// The problem with a context at this site; `nil` if there is none.
  ///
  /// - Parameter name: The name of the context in the reference.
  func obstacle(to context: ValueContext, called name: String) -> ValueProblem? {
    switch context {
    case .inputs, .run, .workflow: nil
    case .secrets: allowsSecrets ? nil : .secret(in: site)
    case .env: isEarly ? unavailable(name, tooEarly) : nil
    case .steps:
      isEarly || owner.isWorkflow && !isOutput ? unavailable(name, tooEarly) : nil
    // Whether there is a loop is checked elsewhere, where the enclosing groups are known.
    case .item, .index, .matrix: isEarly ? unavailable(name, tooEarly) : nil
    case .itself:
      readsItself
        ? nil
        : unavailable(
          name,
          "\"self\" is a step's own result; it is available in \"outputs\", in \"when\" of "
            + "\"retry\" and in the checks of a response")
    }
  }

  /// The problem with calling a function at this site; `nil` if there is none.
  func obstacle(to function: ExpressionFunction) -> ValueProblem? {
    if function.status != nil, site != .condition {
      return .unavailable("\(function.rawValue)()", in: site, help: "it is only for conditions")
    }
    guard function == .hashFiles, isEarly else { return nil }
    return .unavailable("hashFiles()", in: site, help: tooEarly)
  }

  var allowsSecrets: Bool {
    switch site {
    case .variable, .input, .output: true
    // The elements are secret then, but their number is shown.
    case .elements: true
    // Another workflow declares which of its inputs may be secret; parameters of an action always may be.
    case .parameter: true
    case .http(let site): site.allowsSecrets
    default: false
    }
  }

  private var isOutput: Bool { site.isOutput }

  /// Whether the result that the text refers to is known.
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
      ? "it is evaluated before anything runs: use inputs, run and workflow"
      : "\(site.key) is evaluated before the step starts: use inputs, run and workflow"
  }
}

extension HTTPSite {
  /// Whether secrets are allowed: in contents that are sent, but not in what is shown or decides.
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
