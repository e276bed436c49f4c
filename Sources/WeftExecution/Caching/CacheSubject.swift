import WeftCaching
package import WeftDefinition
import WeftExpressions
import WeftJSON
import WeftPlanning
import WeftPlatform

/// A cacheable step, with everything that its result depends on except the content of files.
struct CacheSubject: Sendable {
  enum Input: Sendable {
    case none
    case text(String, isSecret: Bool)
    case file([String])
    /// The log of another step, by its number.
    case log(Int)
  }

  /// The step's address in the plan, without the keys of elements.
  let step: String
  let caching: Command.Caching
  /// The step's directory, as names relative to the start directory.
  let directory: [String]
  let environment: EnvironmentBlock
  /// The working directory as passed to programs.
  let workingDirectory: String?
  /// The command's arguments, under the names used in messages.
  let command: [(name: String, text: String)]
  /// The names of the variables that are part of the key.
  let variables: Set<String>
  let secretVariables: Set<String>
  /// The enclosing loop elements, innermost first, as JSON.
  let elements: [(text: String, isSecret: Bool)]
  let input: Input
  /// The paths of its outputs, relative to the start directory.
  let outputs: [[String]]
  let version: [String]?

  init(
    _ resolved: ResolvedStep, _ caching: Command.Caching, of task: StepTask, in plan: Plan,
    _ resolver: CommandResolver, start: String?
  ) throws(CacheKeyError) {
    let resolved = resolved
    self.caching = caching
    step = task.step.address.text
    directory = try CacheSubject.directory(resolved.workingDirectory, start: start)
    workingDirectory = resolver.directory(of: resolved)
    do { environment = try resolver.environment(of: resolved, for: task) } catch {
      throw .environment
    }
    let shell = plan.shell(of: task.step)
    command = CacheSubject.command(resolved, shell: shell)
    var variables = Set(plan.environment(of: task.step).keys).union(caching.environment)
    for files in plan.environmentFiles(of: task.step) {
      guard let known = plan.fileVariables[files] else { throw .environmentFile(files[0].path) }
      variables.formUnion(known.keys)
    }
    self.variables = variables
    secretVariables = resolved.secretVariables
    elements = CacheSubject.elements(of: task.instance)
    input = try CacheSubject.input(resolved, directory, of: task, in: plan)
    outputs = try CacheSubject.outputs(caching, in: directory)
    for path in caching.inputs {
      if caching.output(around: path, in: directory) != nil { throw .inputInOutput(path) }
    }
    version =
      switch caching.version {
      case .program(let arguments)?: arguments
      case let version?: shell.prefix + [version.script ?? ""]
      case nil: nil
      }
  }

  var outputPaths: [String] { outputs.map { $0.joined(separator: "/") } }

  /// The input patterns that match none of these files.
  func unmatchedInputs(in files: [[String]]) -> [String] {
    caching.inputs.filter { text in
      guard !text.hasPrefix("!"), let pattern = try? Command.Caching.pattern(text, in: directory),
        let selection = try? FileSelection(each: [pattern])
      else { return false }
      return !files.contains(where: selection.includes)
    }
  }

  /// The paths of its inputs; `nil` if one is a pattern.
  var literalInputs: [[String]]? {
    var paths: [[String]] = []
    for text in caching.inputs {
      guard !text.utf8.contains(where: { "*?[]{}!\\".utf8.contains($0) }),
        let names = Command.Caching.names(text, in: directory), !names.isEmpty
      else { return nil }
      paths.append(names)
    }
    if case .file(let names) = input { paths.append(names) }
    return paths
  }

  /// The rule for the files that the step reads.
  ///
  /// - Parameter state: The directory of Weft's own files.
  func rule(besides state: [String]?) throws(CacheKeyError) -> FileRule {
    var patterns: [String] = []
    do throws(PathPatternError) {
      for pattern in caching.inputs {
        patterns.append(try Command.Caching.pattern(pattern, in: directory))
      }
      if case .file(let names) = input {
        patterns.append(names.map(FileSelection.literally).joined(separator: "/"))
      }
      return FileRule(
        try FileSelection(each: patterns), excluding: outputs + [state].compactMap(\.self))
    } catch {
      throw .pattern(error.message)
    }
  }

  // MARK: Parts

  static func directory(_ path: String?, start: String?) throws(CacheKeyError) -> [String] {
    guard var path else { return [] }
    if path.hasPrefix("/") {
      let root = (start ?? (try? FileSystem.currentDirectory()) ?? "/")
      guard path == root || path.hasPrefix(root + "/") else { throw .outside(path) }
      path = String(path.dropFirst(root.count).drop { $0 == "/" })
    }
    guard let names = Command.Caching.names(path, in: []) else { throw .outside(path) }
    return names
  }

  private static func command(
    _ resolved: ResolvedStep, shell: Shell
  ) -> [(name: String, text: String)] {
    switch resolved.command?.invocation {
    case nil: return []
    case .program(let arguments)?:
      return arguments.enumerated().map { ("run[\($0.offset)]", $0.element) }
    case let invocation?:
      let text = invocation.script ?? ""
      let interpreter = shell.prefix.enumerated().map { ("shell[\($0.offset)]", $0.element) }
      return interpreter + [("run", text)] + resolved.evaluatedTexts.map { ($0.name, $0.value) }
    }
  }

  private static func elements(of instance: Instance) -> [(text: String, isSecret: Bool)] {
    instance.outwards.compactMap { instance in
      guard case .element(let element) = instance.kind else { return nil }
      return (element.value.json.description, element.isSecret)
    }
  }

  private static func input(
    _ resolved: ResolvedStep, _ directory: [String], of task: StepTask, in plan: Plan
  ) throws(CacheKeyError) -> Input {
    switch resolved.command?.stdin {
    case nil: return .none
    case .text(let text): return .text(text, isSecret: resolved.inputIsSecret)
    case .file(let path):
      guard !path.hasPrefix("/"), let names = Command.Caching.names(path, in: directory) else {
        throw .outside(path)
      }
      return .file(names)
    case .log:
      guard let source = plan.logs.source(ofStep: task.index) else { return .none }
      return .log(task.instance.instanceNumber(ofStep: source))
    }
  }

  static func outputs(
    _ caching: Command.Caching, in directory: [String]
  ) throws(CacheKeyError) -> [[String]] {
    var outputs: [[String]] = []
    for path in caching.outputs {
      guard !path.hasPrefix("/"), let names = Command.Caching.names(path, in: directory) else {
        throw .outside(path)
      }
      guard !names.isEmpty else { throw .outside(path) }
      if outputs.contains(where: { $0.starts(with: names) || names.starts(with: $0) }) {
        throw .overlapping(path)
      }
      outputs.append(names)
    }
    return outputs
  }
}

/// The files that an attempt of a cached step reads and makes, by patterns and paths without expressions.
package struct CachedFiles: Sendable, Hashable {
  /// The index of the step in the plan.
  package let step: Int
  package let caching: Command.Caching
  /// The step's directory, as names relative to the start directory.
  package let directory: [String]

  package init(_ caching: Command.Caching, ofStep step: Int, in directory: [String]) {
    (self.step, self.caching, self.directory) = (step, caching, directory)
  }
}

/// The reason why a cache key cannot be computed, so that the step runs.
enum CacheKeyError: Error, Sendable, Hashable {
  case outside(String)
  case overlapping(String)
  case inputInOutput(String)
  case pattern(String)
  case environment
  case environmentFile(String)
  case version(String)
  case workspace(String)
  case stopped

  var message: String {
    switch self {
    case .outside(let path): "\"\(path)\" is outside the start directory"
    case .overlapping(let path): "its output \"\(path)\" overlaps with another one"
    case .inputInOutput(let path): "its input \"\(path)\" is in one of its outputs"
    case .pattern(let message), .version(let message), .workspace(let message): message
    case .environment: "its environment is invalid"
    case .environmentFile(let path): "its env file \"\(path)\" has not been read"
    case .stopped: "it was stopped"
    }
  }
}
