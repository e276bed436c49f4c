import WeftDiagnostics
package import WeftExpressions
import WeftJSON

extension Command {
  /// The inputs and outputs of a command, by which an earlier result can replace running it.
  public struct Caching: Sendable, Hashable {
    /// Patterns of files, relative to the step's directory; a pattern that begins with `!` excludes its matches.
    public var inputs: [String]
    /// Paths of files and directories, relative to the step's directory.
    public var outputs: [String]
    /// Environment variables that the result depends on, besides those that the workflow sets.
    public var environment: [String]
    /// A text that the result depends on; the command runs again if it changes.
    public var key: String?
    /// A command whose output the result depends on, such as the version of a compiler.
    public var version: Invocation?

    public init(
      inputs: [String], outputs: [String] = [], environment: [String] = [], key: String? = nil,
      version: Invocation? = nil
    ) {
      self.inputs = inputs
      self.outputs = outputs
      self.environment = environment
      self.key = key
      self.version = version
    }
  }

  /// The conditions under which an earlier result replaces running it; `nil` if none does.
  public var caching: Caching? {
    get { hasOptions ? options.caching : nil }
    set { options.caching = newValue }
  }
}

/// `cache` of a command: when an earlier result replaces running it.
extension Command.Caching: FormatObject {
  static let format = ObjectFormat<Command.Caching>("\"cache\"") {
    FormatKey(
      "inputs", ValueFormat { $0.inputPatterns($1, $2) }, "Input files",
      """
      Patterns of files, relative to the step's directory: * and ? within a name, ** for \
      any number of directories. A directory means everything in it; ! before a pattern \
      excludes its files. An expression that is an array stands for one file per element. \
      [] if the step reads no files.
      """,
      schema: #"""
        {"type": "array", "items": "@filePattern", "examples": [["src/**", "Makefile", "!src/**/*.tmp"]]}
        """#,
      synonyms: "parameters params args arguments sources files deps srcs in",
      required: "\"inputs\": [\"src/**\"], or [] if it reads no files", at: \.inputs)
    FormatKey(
      "outputs", ValueFormat { $0.outputPaths($1, $2) }, "Output files",
      """
      Files and directories, relative to the step's directory. A directory is cached with \
      everything in it, and restored as a whole. An expression that is an array stands for \
      one path per element.
      """,
      schema: #"""
        {"type": "array", "items": {"type": "string", "minLength": 1,
        "anyOf": [{"pattern": "\\$\\{\\{"}, {"pattern": "^(?!/)[^*?\\[]*$"}]},
        "examples": [["build", "docs/index.html"]]}
        """#,
      synonyms: "generates artifacts paths targets out outs", at: \.outputs)
    FormatKey(
      "env", ValueFormat { $0.variableNames($1, $2) }, "Variables",
      """
      The names of variables of weft's own environment that the step depends on, besides \
      those that the workflow sets.
      """,
      schema: #"""
        {"type": "array", "items": {"$ref": "literalText", "pattern": "^[^=]+$"},
        "examples": [["CC", "CFLAGS"]]}
        """#,
      synonyms: "environment variables variable", at: \.environment)
    FormatKey(
      "key", .text(at: .cacheKey), "Key", "A text that the result depends on too.",
      schema: #"{"type": "string"}"#, synonyms: "group", at: \.key)
    FormatKey(
      "version", ValueFormat { $0.versionCommand($1, $2) }, "Version command",
      """
      A command whose output the result depends on too, such as a compiler's version. It \
      runs once in a run, before the step.
      """,
      schema: #"""
        {"anyOf": ["@filledLiteralText", "@words"], "examples": [["cc",
        "--version"]]}
        """#,
      synonyms: "tool toolVersion compiler", at: \.version)
  }
}

extension DecodingPass {
  // MARK: Files

  fileprivate mutating func inputPatterns(_ node: JSONNode, _ field: Field) -> [String]? {
    texts(of: node, field, wanted: "an array of patterns like [\"src/**\"]") {
      pass, element, field, index in
      guard
        let text = pass.filledText(
          element, field, at: .cacheInput(index), wanted: "a file pattern")
      else { return nil }
      guard !text.hasExpression else { return text }
      do throws(PathPatternError) { _ = try Command.Caching.pattern(text, in: nil) } catch {
        pass.report(
          .unknownFiles(
            path: pass.path(field), error,
            help: "patterns are relative to the step's directory, and may begin with \"../\""),
          at: element)
        return nil
      }
      return text
    }
  }

  fileprivate mutating func outputPaths(_ node: JSONNode, _ field: Field) -> [String]? {
    var known: [(text: String, names: [String])] = []
    return texts(of: node, field, wanted: "an array of paths like [\"build\"]") {
      pass, element, field, index in
      guard
        let text = pass.filledText(
          element, field, at: .cacheOutput(index), wanted: "the path of a file or a directory")
      else { return nil }
      guard !text.hasExpression else { return text }
      if let problem = Command.Caching.problem(of: text, besides: known, path: pass.path(field)) {
        pass.report(problem, at: element)
        return nil
      }
      known.append((text, Command.Caching.names(text)))
      return text
    }
  }

  // MARK: Other keys

  fileprivate mutating func variableNames(_ node: JSONNode, _ field: Field) -> [String]? {
    texts(of: node, field, wanted: "an array of names like [\"CC\"]") { pass, element, field, _ in
      guard let name = pass.text(element, field) else { return nil }
      guard let problem = ValueRule.problem(withVariable: name) else { return name }
      pass.report(problem, at: element)
      return nil
    }
  }

  fileprivate mutating func versionCommand(
    _ node: JSONNode, _ field: Field
  ) -> Command.Invocation? {
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
  ) -> [String]? {
    elements(
      of: node, field, wanted: wanted, help: node.stringValue.map { "write [\(quoted($0))]" }
    ) { pass, element, field in
      // An invalid element keeps its place: expressions are identified by it.
      read(&pass, element, field, field.index ?? 0) ?? ""
    }
  }

  // MARK: Combinations

  mutating func checkCaching(of draft: StepDraft) {
    guard draft.command.caching != nil, let cache = draft.placedKey("cache") else { return }
    if draft.command.usesTerminal, let node = draft.placedKey("tty") {
      report(
        .cacheApart("tty", why: "what is done at a terminal cannot be cached"), at: cache,
        related: ("\"tty\" is here", node))
    }
    if draft.command.leftovers == .keep, let node = draft.placedKey("leftovers") {
      report(
        .cacheApart("leftovers", why: "a process that keeps running cannot be cached"), at: cache,
        related: ("\"leftovers\" is here", node))
    }
  }

  /// Notes the location of a cached step's script for diagnostics that need the graph.
  func placeCachedScript(of step: inout Step, at node: JSONNode) {
    guard case .run(let command) = step.action, command.caching != nil,
      case .script = command.invocation,
      step.place.value?.texts.contains(where: { $0.site == .script }) == false,
      let value = member("run", of: node)?.value
    else { return }
    step.place.value?.texts.append(TextPlace(.script, at: value.range))
  }

  mutating func checkCachedOutputs(of step: Step, at node: JSONNode) {
    guard !step.outputs.isEmpty, step.action.model.keepsResults else { return }
    for output in step.outputs where output.isSecret {
      report(.secretOutput(output.name), at: member("outputs", of: node)?.value ?? node)
    }
  }
}

extension Diagnostic {
  static func unknownFiles(
    path: String, _ fault: PathPatternError, help: String
  ) -> Diagnostic {
    Diagnostic(.pattern, "\(path) is not a valid pattern: \(fault.message)", help: help)
  }

  static func outputIsPattern(path: String, text: String) -> Diagnostic {
    Diagnostic(
      .unfitValue, "\(path) is \(quoted(text)), expected the path of one file or directory",
      help: "name the directory: everything in it is cached")
  }

  static func absoluteOutput(path: String, text: String) -> Diagnostic {
    Diagnostic(
      .absolutePath, "\(path) is the absolute path \(quoted(text)), expected a relative one",
      help: "it is relative to the step's directory")
  }

  static func outputIsAll(path: String) -> Diagnostic {
    Diagnostic(
      .unfitValue,
      "\(path) contains the directory in which the step runs, so it cannot be restored as a whole",
      help: "name the files that the step creates")
  }

  static func outputsInside(path: String, text: String, of outer: String) -> Diagnostic {
    Diagnostic(
      .repeatedValue, "\(path) is \(quoted(text)), which is the same as or inside \(quoted(outer))",
      help: "keep the outer one: everything in it is cached")
  }

  static func cacheApart(_ key: String, why: String) -> Diagnostic {
    Diagnostic(.keysApart, "\"cache\" cannot be combined with \"\(key)\"", help: why)
  }

  static func secretOutput(_ name: String) -> Diagnostic {
    Diagnostic(
      .keysApart, "\"cache\" cannot be combined with the secret output \(quoted(name))",
      help: "secrets are never stored: produce it in a step without \"cache\"")
  }
}

/// Paths of the files of a cached step.
extension Command.Caching {
  /// The components of a path, without `.`.
  package static func names(_ path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  /// The components of a path in `directory`, from the base on that `directory` is relative to; `nil` if it leaves that
  /// base.
  package static func names(_ path: String, in directory: [String]) -> [String]? {
    var names = directory
    for name in Self.names(path) {
      if name != ".." {
        names.append(name)
      } else if names.popLast() == nil {
        return nil
      }
    }
    return names
  }

  /// The literal components at the start of a pattern in `directory`, from the base of `directory` on.
  package static func literalNames(_ pattern: String, in directory: [String]) -> [String]? {
    let parts = pattern.split(separator: "/").map(String.init)
    let literal = parts.prefix { part in !part.contains { "*?[\\".contains($0) } }
    return names(literal.joined(separator: "/"), in: directory)
  }

  /// The output that contains all matches of an input pattern; `nil` if there is none. A pattern that also matches
  /// files elsewhere, such as `**`, does not match outputs.
  package func output(around input: String, in directory: [String]) -> String? {
    guard !input.hasPrefix("!"), let names = Self.literalNames(input, in: directory) else {
      return nil
    }
    return outputs.first { output in
      guard let place = Self.names(output, in: directory), !place.isEmpty else { return false }
      return names.starts(with: place)
    }
  }

  /// A pattern in `directory`, made relative to the base of `directory`. It may begin with `../`.
  ///
  /// - Parameter directory: `nil` if it is not known yet.
  package static func pattern(
    _ text: String, in directory: [String]?
  ) throws(PathPatternError) -> String {
    var rest = Substring(text)
    let isExclusion = rest.hasPrefix("!")
    if isExclusion { rest = rest.dropFirst() }
    if rest.hasPrefix("/") { throw .absolute(text) }
    var names = directory ?? []
    while rest.hasPrefix("../") || rest.hasPrefix("./") || rest == ".." {
      if rest.hasPrefix(".."), names.popLast() == nil, directory != nil { throw .leadsUp(text) }
      rest = rest.drop { $0 != "/" }.drop { $0 == "/" }
    }
    let pieces = names.map(FileSelection.literally) + (rest.isEmpty ? [] : [String(rest)])
    let pattern = pieces.joined(separator: "/")
    _ = try FileSelection(each: [pattern])
    return (isExclusion ? "!" : "") + pattern
  }
}

extension Command.Caching {
  static func problem(
    of output: String, besides known: [(text: String, names: [String])], path: String
  ) -> Diagnostic? {
    if output.hasPrefix("/") { return .absoluteOutput(path: path, text: output) }
    if output.contains(where: { "*?[".contains($0) }) {
      return .outputIsPattern(path: path, text: output)
    }
    let names = names(output)
    if names.allSatisfy({ $0 == ".." }) { return .outputIsAll(path: path) }
    for other in known {
      if names.starts(with: other.names) {
        return .outputsInside(path: path, text: output, of: other.text)
      }
      if other.names.starts(with: names) {
        return .outputsInside(path: path, text: other.text, of: output)
      }
    }
    return nil
  }
}
