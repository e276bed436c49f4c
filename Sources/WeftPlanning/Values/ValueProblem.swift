import WeftDefinition
import WeftDiagnostics

/// A problem with the expressions of a workflow: one case, one message, one remedy.
///
/// The caret points at the subject of a message, which names the step only if that helps.
enum ValueProblem: Sendable, Hashable {
  /// A problem with the expression itself, in the words of the parser.
  case expression(code: String, message: String, help: String?)
  case unknownContext(String, help: String?)
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

extension ValueProblem {
  /// The diagnostic code, stable across releases and unique to the case.
  var code: String {
    switch self {
    case .expression(let code, _, _), .remark(let code, _, _): code
    case .unknownContext: "W0310"
    case .unknownStep, .notMember: "W0311"
    case .unknownMember, .headerInCapitals, .stepNotNamed, .secretNotNamed, .memberNotNamed: "W0312"
    case .unknownOutput: "W0313"
    case .unknownInput: "W0314"
    case .unknownVariable: "W0315"
    case .unknownSecret: "W0316"
    case .unavailable: "W0317"
    case .secret, .secretKeys, .secretForOpenInput, .secretOfCached: "W0318"
    case .readsItself, .readsGroupAround, .readsMember, .readsOwnOutputs, .failedHasNoOutputs:
      "W0319"
    case .readsInsideOf: "W0326"
    case .partOfMany: "W0328"
    case .readsFinalizer: "W0329"
    case .outsideOfLoop, .elementOf, .beforeElements: "W0327"
    case .readsTerminal, .savesBody, .runsNothing: "W0320"
    case .wrongType: "W0321"
    case .notAlone: "W0322"
    case .unsafeInScript: "W0323"
    case .variableRunsCode: "W0324"
    case .outputWithoutValue: "W0325"
    case .lateInput: "W0336"
    case .mayBeMissing: "W0503"
    case .mayBeOption: "W0505"
    case .mayBeRun, .variableEvaluated: "W0506"
    case .decidesNothing: "W0511"
    }
  }

  var message: String {
    switch self {
    case .expression(_, let message, _), .unsafeInScript(let message, _),
      .remark(_, let message, _):
      message
    case .unknownContext(let name, _):
      "unknown name \"\(name)\""
    case .unavailable(let name, let site, _):
      "\"\(name)\" cannot be used in \(site.key)"
    case .unknownStep(let name, _):
      "the expression reads step \"\(name)\", which is not a step of this workflow"
    case .notMember(let name, let group):
      "the expression reads \"\(name)\", which is not a member of group \"\(group)\""
    case .stepNotNamed:
      "\"steps\" is used without the name of a step"
    case .secretNotNamed:
      "\"secrets\" is used without the name of a secret"
    case .memberNotNamed(let group):
      "\"steps\" of group \"\(group)\" is used without the name of a step"
    case .unknownMember(let name, let owner, _, _):
      "\(owner) has no \"\(name)\""
    case .unknownOutput(let name, let owner, _, _):
      "\(owner) has no output \"\(name)\""
    case .unknownInput(let name, _, _):
      "the workflow has no input \"\(name)\""
    case .lateInput(let name, let site):
      "\(site.key) is evaluated before anything runs, but the value of input "
        + "\"\(name)\" is only known later"
    case .unknownVariable(let name, _, _):
      "no enclosing \"env\" sets the variable \"\(name)\""
    case .unknownSecret(let name, _, _):
      "the workflow has no secret \"\(name)\""
    case .readsItself(let address, let isGroup):
      "\(isGroup ? "group" : "step") \"\(address)\" reads itself"
    case .readsGroupAround(let address):
      "the expression reads \"\(address)\", which is an enclosing group that has not ended yet"
    case .readsMember(let step):
      "the expression reads \"\(step)\", which is inside the group and has not ended yet"
    case .readsInsideOf(let step, let sealed):
      "the expression reads \"\(step)\", which cannot be named from outside \"\(sealed.address)\" "
        + "(\(sealed.reason.rawValue))"
    case .readsFinalizer(let step, let finalizerScope):
      "the expression reads \"\(step)\", which \(finalizerScope.reason)"
    case .readsOwnOutputs(let owner):
      "\(owner) reads its own outputs"
    case .failedHasNoOutputs(let owner):
      "\(owner) reads its own outputs after an attempt has failed"
    case .outsideOfLoop(let context, _):
      "\"\(context.rawValue)\" is used outside a \(context.loopName)"
    case .elementOf(let name, let loop, _):
      "\"\(name)\" is an element of \"\(loop)\", but is used outside of it"
    case .beforeElements(let name, let site):
      "\"\(name)\" is used in \(site.key), which is evaluated before there are elements"
    case .runsNothing(let step, let field, let actionPhrase):
      "step \"\(step)\" \(actionPhrase), so it has no \(field)"
    case .partOfMany(let name, let owner, _, _):
      "\(owner) runs once for each element, so it has no single \"\(name)\""
    case .readsTerminal(let step, let field):
      "step \"\(step)\" writes to the terminal, so it has no \(field)"
    case .headerInCapitals(let name):
      "header \"\(name)\" is never found: header names are in lower case"
    case .savesBody(let step, let field):
      "step \"\(step)\" saves the response body to a file, so it has no \(field)"
    case .secret(let site):
      "a secret cannot be used in \(site.key)"
    case .secretForOpenInput(let name):
      "a secret is passed to input \"\(name)\", which is not declared secret"
    case .secretOfCached(let name):
      "output \"\(name)\" is secret, and the step has \"cache\""
    case .secretKeys:
      "the elements are secret, but the keys of an object are visible in element addresses"
    case .wrongType(let found, let wanted, let site, _):
      "\(site.key) is given \(found), expected \(wanted)"
    case .notAlone(let site):
      "\(site.key) has text around an expression, expected exactly one expression"
    case .variableRunsCode(let name):
      "the value of \(name) is computed, but programs execute that variable as code"
    case .outputWithoutValue(let name, let owner):
      "output \"\(name)\" of \(owner) has no value, and no program that could write it"
    case .decidesNothing(let site, let truth, let found):
      "\"\(site.key)\" is always \(truth), because \(found) counts as \(truth)"
    case .mayBeMissing(let absence, let expression):
      "\"\(expression)\" may be missing: \(absence.reason)"
    case .mayBeRun(let expression, let program, let option):
      "\"\(expression)\" follows \"\(option)\" of \(quoted(program)), which may run it"
    case .variableEvaluated(let name, let step):
      "the variable \"\(name)\" holds a value, and the script of \"\(step)\" evaluates it"
    case .mayBeOption(nil, let expression):
      "an argument begins with \"\(expression)\": a value that starts with \"-\" "
        + "would be read as an option"
    case .mayBeOption(let argument?, let expression):
      "run[\(argument)] begins with \"\(expression)\": a value that starts with \"-\" "
        + "would be read as an option"
    }
  }

  var help: String? {
    switch self {
    case .expression(_, _, let help), .remark(_, _, let help), .wrongType(_, _, _, let help):
      help
    case .unavailable(_, _, let help), .unsafeInScript(_, let help): help
    case .unknownContext(_, let help):
      help
        ?? "available: inputs, env, secrets, steps, self, item, index, matrix, run and workflow; text goes in '…'"
    case .unknownStep(_, let nearest):
      nearest.asSuggestion ?? "refer to a step or group by its \"id\""
    case .notMember(let name, _):
      "name it without the group: steps.\(name)"
    case .stepNotNamed, .memberNotNamed:
      "write the id of a step after it: steps.build.stdout"
    case .secretNotNamed:
      "write the name of a secret after it: secrets.TOKEN"
    case .unknownMember(_, _, let known, let nearest):
      nearest.asSuggestion ?? listing(known)
    case .unknownOutput(_, let owner, let known, let nearest):
      nearest.asSuggestion
        ?? (known.isEmpty
          ? "declare it there: \"outputs\": { \"…\": \"${{ \(owner.example) }}\" }"
          : listing(known))
    case .unknownInput(_, let known, let nearest):
      nearest.asSuggestion
        ?? (known.isEmpty
          ? "declare it: \"inputs\": { \"…\": { \"type\": \"string\" } }" : listing(known))
    case .unknownSecret(_, let known, let nearest):
      nearest.asSuggestion
        ?? (known.isEmpty
          ? "declare it: \"secrets\": { \"…\": { \"env\": \"…\" } }" : listing(known))
    case .secretOfCached:
      "secrets are never stored: produce it in a step without \"cache\""
    case .secretForOpenInput:
      "declare the input with \"secret\": true, so that its value is masked"
    case .lateInput:
      "write the value literally, or compute it from inputs, run and workflow only"
    case .unknownVariable(_, isOfSameLayer: true, _):
      "a value can only read variables of outer levels: repeat the value, or set it further out"
    case .unknownVariable(_, _, let nearest):
      nearest.asSuggestion
        ?? "set it in \"env\", use \"$NAME\" in the script, or declare an input and pass it with -i"
    case .readsItself(_, let isGroup):
      isGroup ? "name a step inside it" : "a step reads itself as \"self\", in its \"outputs\""
    case .readsGroupAround:
      "name the members that run before this step"
    case .readsMember:
      "only the \"outputs\" of a group can read its members"
    case .readsInsideOf(_, let sealed):
      sealed.help
    case .readsFinalizer(_, let finalizerScope):
      finalizerScope.help
    case .readsOwnOutputs:
      "repeat the expression of the other output"
    case .failedHasNoOutputs:
      "outputs exist only after a success: read other members of self"
    case .outsideOfLoop(.matrix, hasOther: true):
      "the enclosing loop is a \"forEach\": its element is \"item\""
    case .outsideOfLoop(_, hasOther: true):
      "the enclosing loop is a \"matrix\": its values are matrix.AXIS"
    case .outsideOfLoop(let context, _):
      "it is available in the keys of a step or group with a \(context.loopName), and inside it"
    case .elementOf(_, let loop, let hasID):
      hasID
        ? "from outside read \"steps.\(loop).results\""
        : "give the loop an \"id\", and read its \"results\" from outside"
    case .beforeElements:
      "elements of an enclosing loop can be read there, but not those of its own"
    case .partOfMany(StepField.members, _, let results, _):
      "read values of its members through its own \"outputs\": \(results)[0].outputs"
    case .partOfMany(_, _, let results, let rest):
      "read it from one element, \(results)[0].\(rest), or from all, \(results).*.\(rest)"
    case .runsNothing:
      "read its outcome, or its outputs"
    case .readsTerminal(let step, _):
      "remove \"tty\" from \"\(step)\", or let it write to a file"
    case .headerInCapitals(let name):
      "write headers['\(name.lowercased())']"
    case .savesBody(let step, _):
      "remove \"saveTo\" from \"\(step)\", or read the file in another step"
    case .secret(.http):
      "in a request, use secrets in \"url\", \"query\", \"headers\", \"auth\" and the body"
    case .secret(.script):
      "put it in \"env\", and use \"$NAME\" in the script"
    case .secret(.argument):
      "command lines are visible to all users of the machine: pass it in \"env\" or \"stdin\""
    case .secret(.condition), .secret(.retryCondition):
      "the result of a condition is visible: use a value that is not secret"
    case .secret(.elementKey), .secret(.axis), .secret(.include), .secret(.exclude):
      "it would be visible in the addresses of elements"
    case .secretKeys:
      "use an array, whose elements are named by their index"
    case .secret:
      "use secrets in \"env\", \"stdin\" and \"outputs\""
    case .notAlone:
      "remove the text before and after it: \"${{ … }}\""
    case .variableRunsCode:
      "write the value without an expression, or use a different variable"
    case .outputWithoutValue:
      "write { \"value\": \"${{ … }}\" }"
    case .decidesNothing(_, true, _):
      "compare it with the expected value, or write true"
    case .decidesNothing:
      "compare it with the expected value, or write false"
    case .mayBeMissing(.skip(_, let producer), let expression):
      "give a default, ${{ \(expression) || '' }}, or run this only \"if\": "
        + "\"\(producer).outcome == 'success'\""
    case .mayBeMissing(_, let expression):
      "give a default: ${{ \(expression) || '' }}"
    case .mayBeRun:
      "if it does, put the value in \"env\" and read the variable there; a \"pattern\" or \"enum\" "
        + "of the input that excludes code silences this warning"
    case .variableEvaluated:
      "restrict the value with a \"pattern\" or \"enum\" of its input, or pass it as an argument"
    case .mayBeOption:
      "put \"--\" before it, if the program supports that, or restrict the input with "
        + "\"pattern\" or \"enum\""
    }
  }

  private func listing(_ known: [String]) -> String? {
    guard !known.isEmpty else { return nil }
    let shown = known.prefix(12).joined(separator: ", ")
    return "available: \(shown)\(known.count > 12 ? " and more" : "")"
  }
}

extension OutlineMember.Subject {
  /// An example of a value for an output.
  fileprivate var example: String {
    switch self {
    case .step: "self.stdout"
    case .group: "steps.MEMBER.stdout"
    }
  }
}

extension ValueContext {
  /// The key that defines the context.
  fileprivate var loopName: String { self == .matrix ? "\"matrix\"" : "\"forEach\"" }
}

extension Absence {
  fileprivate var reason: String {
    switch self {
    case .failure(let step): "step \"\(step)\" is allowed to fail"
    case .skip(let step, _): "\"\(step)\" has an \"if\", and may be skipped"
    case .readerRunsAnyway(let step):
      "this runs even if \"\(step)\" failed or never started"
    case .loss(let step, let group):
      "\"\(step)\" is cancelled when others in \"\(group)\" are faster"
    case .winner(let race, let member):
      "\"\(race)\" may be won by \"\(member)\", which has no such output"
    }
  }
}
