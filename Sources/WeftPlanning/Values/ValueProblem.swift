import WeftDefinition

/// A problem with the expressions of a workflow: one case, one message, one remedy.
///
/// The caret points at the subject of a message, which names the step only if that helps.
enum ValueProblem: Sendable, Hashable {
  /// A problem with the expression itself, in the words of the parser.
  case expression(code: String, message: String, help: String?)
  case unknownContext(String, nearest: String?)
  /// A context or function that exists, but is not available there.
  case unavailable(String, in: TextSite, help: String)
  case unknownStep(String, nearest: String?)
  case notMember(String, of: String)
  case stepNotNamed
  case secretNotNamed
  case memberNotNamed(String)
  case unknownMember(String, of: String, known: [String], nearest: String?)
  case unknownOutput(String, of: OutlineMember.Subject, known: [String], nearest: String?)
  case unknownInput(String, known: [String], nearest: String?)
  /// An input of another file that is known only during the run, but needed before.
  case lateInput(String, in: TextSite)
  case unknownVariable(String, isOfSameLayer: Bool, nearest: String?)
  case unknownSecret(String, known: [String], nearest: String?)
  case readsItself(String, isGroup: Bool)
  case readsGroupAround(String)
  case readsMember(String)
  case readsInsideOf(String, of: OpaqueGroup)
  case readsFinalizer(String, FinalizerScope)
  case readsOwnOutputs(String)
  case failedHasNoOutputs(String)
  /// `item`, `index` or `matrix` without a matching loop, although there may be one of the other kind.
  case outsideOfLoop(ValueContext, hasOther: Bool)
  /// The name of a loop's elements, used outside of the loop.
  case elementOf(String, of: String, hasID: Bool)
  case beforeElements(String, in: TextSite)
  case readsTerminal(String, field: String)
  case savesBody(String, field: String)
  /// Headers are found by their lowercase names.
  case headerInCapitals(String)
  /// The last value describes the action of the step, which runs no program.
  case runsNothing(String, field: String, String)
  /// A member that the result of each element has, but the combined result does not; the last value is the member with
  /// the names after it.
  case partOfMany(String, of: OutlineMember.Subject, results: String, String)
  case secret(in: TextSite)
  case secretKeys
  /// A secret output of a cached step.
  case secretOfCached(String)
  /// A secret for an input of another file that is not declared to be secret.
  case secretForOpenInput(String)
  case wrongType(found: String, wanted: String, in: TextSite, help: String?)
  case notAlone(TextSite)
  case unsafeInScript(message: String, help: String)
  case variableRunsCode(String)
  case outputWithoutValue(String, of: String)

  case mayBeMissing(Absence, expression: String)
  /// Surely unintended; the words are those of the type checker.
  case remark(code: String, message: String, help: String?)
  /// - Parameter argument: The position in the command line; `nil` in a script.
  case mayBeOption(argument: Int?, expression: String)
  /// A value after an option that runs its argument as code in many programs.
  case mayBeRun(String, program: String, option: String)
  /// A variable with a computed value, in a script that evaluates or runs it.
  case variableEvaluated(String, by: String)
  /// A condition that always has the same value.
  case decidesNothing(TextSite, Bool, found: String)

  var isWarning: Bool {
    switch self {
    case .mayBeMissing, .remark, .mayBeOption, .mayBeRun, .variableEvaluated, .decidesNothing: true
    default: false
    }
  }
}

/// The reason why a value may be missing.
enum Absence: Sendable, Hashable {
  /// The step or group is allowed to fail.
  case failure(of: String)
  /// The step or group has an `if`; `producer` is the name that the reader uses for it.
  case skip(of: String, producer: String)
  /// The reader runs whatever the outcome of the step or group.
  case readerRunsAnyway(String)
  /// The outputs of a group read a member that may be ended because others were faster.
  case loss(of: String, in: String)
  /// The member may win the race, but has no such output.
  case winner(String, of: String)
}

extension TextSite {
  /// The key as written in the file.
  package var key: String {
    switch self {
    case .name: "name"
    case .script: "run"
    case .argument(let index): "run[\(index)]"
    case .variable(let name): "env.\(name)"
    case .workingDirectory: "cwd"
    case .input: "stdin"
    case .inputFile: "stdin.file"
    case .output(let name): "outputs.\(name)"
    case .condition: "if"
    case .retryCondition(0): "retry.when"
    case .retryCondition(let index): "retry[\(index)].when"
    case .elements: "forEach.in"
    case .elementKey: "forEach.key"
    case .axis(let name): "matrix.\(name)"
    case .include: "matrix.include"
    case .exclude: "matrix.exclude"
    case .waiting: "wait"
    case .message: "approve.message"
    case .concurrencyKey: "concurrency.key"
    case .parameter(let name): "with.\(name)"
    case .cacheInput(let index): "cache.inputs[\(index)]"
    case .cacheOutput(let index): "cache.outputs[\(index)]"
    case .cacheKey: "cache.key"
    case .computed(let key): key.rawValue
    case .http(let site): site.path
    }
  }
}
