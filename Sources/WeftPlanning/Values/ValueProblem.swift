import WeftDefinition

/// What can be wrong with the expressions of a workflow: one case, one sentence, one cure.
///
/// What a sentence is about is pointed at by the caret; it names the step only where that helps.
enum ValueProblem: Sendable, Hashable {
  /// The expression by itself; the words are its reader's.
  case expression(code: String, message: String, help: String?)
  case unknownContext(String, nearest: String?)
  /// A context, or a function, that exists and means nothing there.
  case unavailable(String, in: TextSite, help: String)
  case unknownStep(String, nearest: String?)
  case notMember(String, of: String)
  case stepNotNamed
  case secretNotNamed
  case memberNotNamed(String)
  case unknownMember(String, of: String, known: [String], nearest: String?)
  case unknownOutput(String, of: PlanningProblem.Subject, known: [String], nearest: String?)
  case unknownInput(String, known: [String], nearest: String?)
  /// An input of another file that is known only while the run goes on, where it is needed before.
  case lateInput(String, in: TextSite)
  case unknownVariable(String, isOfSameLayer: Bool, nearest: String?)
  case unknownSecret(String, known: [String], nearest: String?)
  case readsItself(String, isGroup: Bool)
  case readsGroupAround(String)
  case readsMember(String)
  case readsInsideOf(String, of: SealedGroup)
  case readsAfterwards(String, Afterwards)
  case readsOwnOutputs(String)
  case failedHasNoOutputs(String)
  /// `item`, `index` or `matrix` where there is none, though perhaps there is the other of them.
  case outsideOfLoop(ValueContext, hasOther: Bool)
  /// What the elements of a loop are called, used outside of it.
  case elementOf(String, of: String, hasID: Bool)
  case beforeElements(String, in: TextSite)
  case readsTerminal(String, field: String)
  case savesBody(String, field: String)
  /// Headers are found by their names in small letters.
  case headerInCapitals(String)
  /// The last says what the step does instead of running a program.
  case runsNothing(String, field: String, String)
  /// What each element's result has, and that of all does not; the last is that and what is read of it.
  case partOfMany(String, of: PlanningProblem.Subject, results: String, String)
  case secret(in: TextSite)
  case secretKeys
  /// An output of a step whose results are kept.
  case secretOfCached(String)
  /// Given to an input of another file that does not say it is one.
  case secretForOpenInput(String)
  case wrongType(found: String, wanted: String, in: TextSite, help: String?)
  case notAlone(TextSite)
  case unsafeInScript(message: String, help: String)
  case variableRunsCode(String)
  case outputWithoutValue(String, of: String)

  case mayBeMissing(Absence, expression: String)
  /// Surely not what was meant; the words are the type checker's.
  case remark(code: String, message: String, help: String?)
  /// - Parameter argument: `nil` in a script.
  case mayBeOption(argument: Int?, expression: String)
  /// Behind an option that runs text in many programs.
  case mayBeRun(String, program: String, option: String)
  /// A variable that holds a value, in a script that evaluates or runs what it holds.
  case variableEvaluated(String, by: String)
  /// A condition that always comes to the same.
  case decidesNothing(TextSite, Bool, found: String)

  var isWarning: Bool {
    switch self {
    case .mayBeMissing, .remark, .mayBeOption, .mayBeRun, .variableEvaluated, .decidesNothing: true
    default: false
    }
  }
}

/// Why a value that is read may not be there.
enum Absence: Sendable, Hashable {
  /// The step or group is allowed to fail.
  case failure(of: String)
  /// The step or group has an `if`; `producer` is how the reader calls what it reads.
  case skip(of: String, producer: String)
  /// What reads it runs whatever has become of the step or group.
  case readerRunsAnyway(String)
  /// The outputs of a group read a member that may have been ended because others were faster.
  case loss(of: String, in: String)
  /// A race that the member may win, which has no such output.
  case winner(String, of: String)
}

extension TextSite {
  /// The key as it is written in the file.
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
