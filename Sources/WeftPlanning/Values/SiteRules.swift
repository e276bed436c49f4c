import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// The contexts that an expression may read at a site, and what it must evaluate to there.
///
/// | text | may read |
/// |---|---|
/// | names, `concurrency.key`, computed keys of groups and workflows except for loops' (evaluated statically) | `inputs run workflow` |
/// | `env` of the workflow | these, `state`, `env`, `secrets` |
/// | `cwd` of the workflow | these, `state`, `env` |
/// | `outputs` and `state` of the workflow, and all else of steps and groups | these, `state`, `env`, `steps` |
/// | `env`, `stdin` and `outputs` of steps and groups | `secrets` too |
/// | contents of a request | `secrets` too |
/// | `outputs` of steps and groups, and what a request does with its response | `self` too |
struct SiteRules {
  let site: TextSite
  let owner: TextOwner

  /// Whether the text is evaluated before the first step starts.
  var isEarly: Bool {
    switch (site, owner) {
    case (.computed(.elementParallel), _), (.computed(.combinationParallel), _): false
    case (.name, _), (.concurrencyKey, _), (.computed, .workflow), (.computed, .group): true
    default: false
    }
  }

  /// The problem with a context at this site; `nil` if there is none.
  ///
  /// - Parameter name: The name of the context in the reference.
  func obstacle(to context: ValueContext, called name: String) -> Diagnostic? {
    switch context {
    case .inputs, .run, .workflow: nil
    case .state: isEarly ? unavailable(name, tooEarly) : nil
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
  func obstacle(to function: ExpressionFunction) -> Diagnostic? {
    if function.status != nil, site != .condition {
      return .unavailable("\(function.rawValue)()", in: site, help: "it is only for conditions")
    }
    guard function.readsFiles, isEarly else { return nil }
    return .unavailable("\(function.rawValue)()", in: site, help: tooEarly)
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

  private func unavailable(_ name: String, _ help: String) -> Diagnostic {
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

/// Reports values that cannot be written as text where text is required: every run would fail there.
extension ValueChecker {
  mutating func checkWritable(
    _ expression: Expression, _ type: ExpressionType, isAlone: Bool, in text: PlannedText
  ) {
    let place = text.site.acceptedKinds(forOnlyExpression: isAlone)
    let alternatives = type.alternatives
    guard let first = alternatives.first, alternatives.allSatisfy({ !place.takes($0) }) else {
      return
    }
    let isNull = alternatives == [.null]
    let fault = ExpressionError(
      isNull
        ? .nothingToWrite(expression.text)
        : .notWritable(expression.text, found: alternatives.count == 1 ? first.name : type.name),
      expression.range)
    report(.expression(fault), text, fault.range)
  }
}

/// The kinds of value that a site accepts in addition to those that can be written as text.
private struct AcceptedKinds: OptionSet {
  let rawValue: Int

  static let null = AcceptedKinds(rawValue: 1)
  static let array = AcceptedKinds(rawValue: 2)
  static let object = AcceptedKinds(rawValue: 4)
  static let anything: AcceptedKinds = [.null, .array, .object]

  func takes(_ type: ExpressionType) -> Bool {
    switch type {
    case .null: contains(.null)
    case .array: contains(.array)
    case .object: contains(.object)
    default: true
    }
  }
}

extension TextSite {
  fileprivate func acceptedKinds(forOnlyExpression isAlone: Bool) -> AcceptedKinds {
    // An array adds one argument for each element.
    if self == .script { return .array }
    guard isAlone else { return [] }
    switch self {
    case .name, .script, .workingDirectory, .inputFile, .message, .concurrencyKey, .cacheKey,
      .probe:
      return []
    // An array adds one argument, or one file, for each element.
    case .argument, .cacheInput, .cacheOutput: return .array
    // With `null`, the variable is removed, or the input is empty.
    case .variable, .input: return .null
    // Elements and computed keys have their own checks; a condition accepts any value as true or false.
    case .http(let site): return site.acceptedKinds
    case .output, .state, .computed, .condition, .retryCondition, .elements, .elementKey, .axis,
      .include,
      .exclude, .waiting, .parameter:
      return .anything
    }
  }
}

extension HTTPSite {
  fileprivate var acceptedKinds: AcceptedKinds {
    switch self {
    // With `null`, the field is omitted; with an array, it is repeated.
    case .query, .header, .field, .part: [.null, .array]
    case .json, .expected, .until, .collected: .anything
    // With `null`, there is no further page, no key or no proxy.
    case .nextPage, .idempotencyKey, .proxy: .null
    case .method, .url, .body, .bodyFile, .partFile, .partFileName, .partType, .bearer, .user,
      .password, .saveTo, .cacheFolder, .authorities, .certificate, .key, .origin:
      []
    }
  }
}

extension TextSite {
  /// Whether the text is an expression, with or without `${{` and `}}` around it.
  var isBare: Bool {
    switch self {
    case .condition, .retryCondition, .elementKey: true
    case .http(let site): site.isBare
    default: false
    }
  }

  /// Whether the text must be exactly one expression.
  var isAlone: Bool {
    switch self {
    case .elements, .axis, .include, .exclude, .waiting, .computed: true
    default: false
    }
  }
}

extension TextSite {
  package var isVariable: Bool {
    if case .variable = self { true } else { false }
  }
}

extension TextSite {
  /// Whether the text is evaluated before there are elements: it does not see the loop of its own step or group, only
  /// enclosing ones.
  package var isBeforeElements: Bool {
    self == .name || makesElements
  }

  /// Whether it determines the elements or how many run at once; it reads the enclosing `env`, not that of its own step
  /// or group.
  package var makesElements: Bool {
    switch self {
    case .elements, .axis, .include, .exclude, .computed(.elementParallel),
      .computed(.combinationParallel):
      true
    default: false
    }
  }
}
