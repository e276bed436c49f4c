import WeftDiagnostics
import WeftExpressions
import WeftJSON

/// `cache` of a command: when an earlier result replaces running it.
extension DecodingPass {
  mutating func caching(_ node: JSONNode) -> Command.Caching? {
    let field = Field("cache")
    guard node.kind == .object else {
      reportType(
        of: node, field, wanted: "an object with \"inputs\"",
        help: "write { \"inputs\": [\"src/**\"], \"outputs\": [\"build\"] }")
      return nil
    }
    var caching = Command.Caching(inputs: [])
    var hasInputs = false
    for member in node.members {
      guard let key: CacheKeyword = key(of: member, in: .cache) else {
        hasInputs = hasInputs || !isIgnored(member.key)
        continue
      }
      let value = member.value
      switch key {
      case .inputs:
        hasInputs = true
        caching.inputs = inputPatterns(value)
      case .outputs: caching.outputs = outputPaths(value)
      case .env: caching.environment = variableNames(value)
      case .key: caching.key = text(value, field.part("key"), at: .cacheKey)
      case .version: caching.version = versionCommand(value)
      }
    }
    if !hasInputs {
      report(
        .control(
          .missingKey(
            path: path(field), key: "inputs",
            example: "\"inputs\": [\"src/**\"], or [] if it reads no files"
          )), at: node)
    }
    return caching
  }

  // MARK: Files

  private mutating func inputPatterns(_ node: JSONNode) -> [String] {
    let field = Field("cache").part("inputs")
    return texts(of: node, field, wanted: "an array of patterns like [\"src/**\"]") {
      pass, element, field, index in
      guard
        let text = pass.filledText(
          element, field, at: .cacheInput(index), wanted: "a pattern of files")
      else { return nil }
      guard !text.hasExpression else { return text }
      do throws(PathPatternError) { _ = try Command.Caching.pattern(text, in: nil) } catch {
        pass.report(.caching(.pattern(path: pass.path(field), error)), at: element)
      }
      return text
    }
  }

  private mutating func outputPaths(_ node: JSONNode) -> [String] {
    let field = Field("cache").part("outputs")
    var known: [(text: String, names: [String])] = []
    return texts(of: node, field, wanted: "an array of paths like [\"build\"]") {
      pass, element, field, index in
      guard
        let text = pass.filledText(
          element, field, at: .cacheOutput(index), wanted: "the path of a file or a directory")
      else { return nil }
      guard !text.hasExpression else { return text }
      if let problem = Command.Caching.problem(of: text, besides: known, path: pass.path(field)) {
        pass.report(.caching(problem), at: element)
        return nil
      }
      known.append((text, Command.Caching.names(text)))
      return text
    }
  }

  // MARK: Other keys

  private mutating func variableNames(_ node: JSONNode) -> [String] {
    let field = Field("cache").part("env")
    return texts(of: node, field, wanted: "an array of names like [\"CC\"]") {
      pass, element, field, _ in
      guard let name = pass.text(element, field) else { return nil }
      guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")) else {
        pass.report(.invalidVariableName(name), at: element)
        return nil
      }
      return name
    }
  }

  private mutating func versionCommand(_ node: JSONNode) -> Command.Invocation? {
    let field = Field("cache").part("version")
    switch node.kind {
    case .string:
      return filledText(node, field, wanted: "a script").map(Command.Invocation.script)
    case .array: return arguments(node, field).map(Command.Invocation.program)
    default:
      reportType(
        of: node, field, wanted: "a script, or an array of a program and its arguments",
        help: "write [\"cc\", \"--version\"]")
      return nil
    }
  }

  private mutating func texts(
    of node: JSONNode, _ field: Field, wanted: String,
    _ read: (inout DecodingPass, JSONNode, Field, Int) -> String?
  ) -> [String] {
    guard node.kind == .array else {
      reportType(
        of: node, field, wanted: wanted,
        help: node.stringValue.map { "write [\(quoted($0))]" })
      return []
    }
    var texts: [String] = []
    for (index, element) in node.elements.enumerated() {
      // An invalid element keeps its place: expressions are identified by it.
      texts.append(read(&self, element, field.element(index), index) ?? "")
    }
    return texts
  }

  // MARK: Combinations

  mutating func checkCaching(of draft: ActionDraft) {
    guard draft.command.caching != nil,
      let cache = draft.placedKeys.first(where: { $0.name == .cache })
    else { return }
    func key(_ name: StepKey) -> JSONNode? { draft.placedKeys.first { $0.name == name }?.node }
    if draft.command.usesTerminal, let node = key(.tty) {
      report(
        .caching(.apart("tty", why: "what happens at a terminal cannot be repeated")),
        at: cache.node,
        related: ("\"tty\" is here", node))
    }
    if draft.command.leftovers == .keep, let node = key(.leftovers) {
      report(
        .caching(.apart("leftovers", why: "a process that is to stay cannot be kept")),
        at: cache.node, related: ("\"leftovers\" is here", node))
    }
  }

  /// Notes the location of a cached step's script for diagnostics that need the graph.
  func placeCachedScript(of step: inout Step, at node: JSONNode) {
    guard case .run(let command) = step.action, command.caching != nil,
      case .script = command.invocation,
      step.place.value?.texts.contains(where: { $0.site == .script }) == false,
      let value = node.members.first(where: { $0.key.isString(equalTo: "run") })?.value
    else { return }
    step.place.value?.texts.append(TextPlace(.script, at: value.range))
  }

  mutating func checkCachedOutputs(of step: Step, at node: JSONNode) {
    guard step.keepsResultsOnDisk else { return }
    for output in step.outputs where output.isSecret {
      let place = node.members.first { $0.key.isString(equalTo: "outputs") }?.value
      report(.caching(.secretOutput(output.name)), at: place ?? node)
    }
  }
}

extension Step {
  /// Whether its results or responses are kept for later runs.
  fileprivate var keepsResultsOnDisk: Bool {
    switch action {
    case .run(let command): command.caching != nil
    case .http(let call):
      if case .folder = call.cache { true } else { false }
    default: false
    }
  }
}
