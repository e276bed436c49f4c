import WeftDiagnostics
import WeftJSON

/// The keys of a command, such as `run`, `stdin` and `successCodes`.
extension DecodingPass {
  /// Reads a key that only commands have; other keys change nothing.
  mutating func take(_ key: StepKey, _ value: JSONNode, into command: inout Command) {
    switch key {
    case .stdin: command.stdin = standardInput(value)
    case .successCodes: command.successCodes = successCodes(value) ?? command.successCodes
    case .stop: command.stop = stopRequest(value)
    case .leftovers: command.leftovers = leftoverPolicy(value) ?? command.leftovers
    case .stallTimeout:
      command.stallTimeout = duration(value, Field("stallTimeout"), as: .stallTimeout)
    case .mergeOutput: command.mergesOutput = flag(value, Field("mergeOutput"), as: .mergeOutput)
    case .logLimit:
      command.logLimit = size(value, Field("logLimit"), as: .logLimit) ?? command.logLimit
    case .tty: command.usesTerminal = flag(value, Field("tty"), as: .tty)
    case .jobserver: command.usesJobserver = flag(value, Field("jobserver"), as: .jobserver)
    case .cache: command.caching = caching(value)
    case .id, .run, .needs, .name, .description, .env, .cwd, .shell, .timeout, .allowFailure,
      .steps, .parallel, .maxParallel, .envPolicy, .outputs, .if, .retry, .pool, .cleanup, .forEach,
      .matrix, .wait, .approve, .workflow, .use, .http, .with, .race, .join,
      .idempotent, .onInterrupted:
      break
    }
  }

  mutating func invocation(_ node: JSONNode) -> Command.Invocation? {
    switch node.kind {
    case .string: return script(node, Field("run")).map(Command.Invocation.script)
    case .array:
      return arguments(node, Field("run"), allowsExpressions: true).map(Command.Invocation.program)
    default:
      reportType(
        of: node, Field("run"), wanted: "a script, or an array of a program and its arguments")
      return nil
    }
  }

  mutating func script(_ node: JSONNode, _ field: Field) -> String? {
    filledText(node, field, at: .script, wanted: "a script")
  }

  mutating func standardInput(_ node: JSONNode) -> StandardInput? {
    switch node.kind {
    case .string: return text(node, Field("stdin"), at: .input).map(StandardInput.text)
    case .object: return standardInputSource(node)
    default:
      reportType(
        of: node, Field("stdin"), wanted: "a text, { \"file\": … } or { \"log\": … }")
      return nil
    }
  }

  private mutating func standardInputSource(_ node: JSONNode) -> StandardInput? {
    let field = Field("stdin")
    var sources: [StandardInputKey: StandardInput] = [:]
    var found: Set<StandardInputKey> = []
    var hasUnknownKey = false
    for member in node.members {
      guard let key: StandardInputKey = key(of: member, in: .stdin) else {
        hasUnknownKey = hasUnknownKey || !isIgnored(member.key)
        continue
      }
      found.insert(key)
      switch key {
      case .file:
        let path = filledText(
          member.value, field.member(member.key), at: .inputFile, wanted: "the path of a file")
        sources[key] = path.map(StandardInput.file)
      case .log:
        let name = filledText(member.value, field.member(member.key), wanted: "the id of a step")
        sources[key] = name.map { .log(Need($0, place: member.value.range)) }
      }
    }
    if found.count != 1 && !hasUnknownKey {
      report(
        .wrongType(
          path: path(field), found: found.isEmpty ? "an empty object" : "both a file and a log",
          wanted: "{ \"file\": … } or { \"log\": … }", help: nil),
        at: node)
    }
    return found.count == 1 ? sources.values.first : nil
  }

  mutating func successCodes(_ node: JSONNode) -> [Int]? {
    let field = Field("successCodes")
    guard node.kind == .array else {
      reportType(
        of: node, field, wanted: "an array of exit codes",
        help: node.kind == .number ? "write [\(shortened(node.sourceText))]" : "write [0, 1]")
      return nil
    }
    guard !node.elements.isEmpty else {
      report(.empty(path: path(field), wanted: "at least one exit code"), at: node)
      return nil
    }
    var codes: [Int] = []
    for (index, element) in node.elements.enumerated() {
      guard let code = integer(element, field.element(index), in: ValueRule.exitCodes) else {
        continue
      }
      codes.append(code)
    }
    return codes.isEmpty ? nil : codes
  }
}
