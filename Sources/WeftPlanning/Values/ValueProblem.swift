import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// Problems with the expressions of a workflow: one message, one remedy.
///
/// The caret points at the subject of a message, which names the step only if that helps.
extension Diagnostic {
  /// A problem with the expression itself, in the words of the parser.
  static func expression(_ problem: ExpressionError) -> Diagnostic {
    Diagnostic(problem.code, problem.message, help: problem.help)
  }

  private static func listing(_ known: [String]) -> String? {
    guard !known.isEmpty else { return nil }
    let shown = known.prefix(12).joined(separator: ", ")
    return "available: \(shown)\(known.count > 12 ? " and more" : "")"
  }
}

/// Names that are unknown, or not available where they are used.
extension Diagnostic {
  static func unknownContext(_ name: String, help: String) -> Diagnostic {
    Diagnostic("W0310", "unknown name \"\(name)\"", help: help)
  }

  /// A context or function that exists, but is not available there.
  static func unavailable(_ name: String, in site: TextSite, help: String) -> Diagnostic {
    Diagnostic("W0317", "\"\(name)\" cannot be used in \(site.key)", help: help)
  }

  static func unknownStep(_ name: String, nearest: String?) -> Diagnostic {
    Diagnostic(
      "W0311", "the expression reads step \"\(name)\", which is not a step of this workflow",
      help: nearest.asSuggestion ?? "refer to a step or group by its \"id\"")
  }

  static func notMember(_ name: String, of group: String) -> Diagnostic {
    Diagnostic(
      "W0311", "the expression reads \"\(name)\", which is not a member of group \"\(group)\"",
      help: "name it without the group: steps.\(name)")
  }

  static let stepNotNamed = Diagnostic(
    "W0312", "\"steps\" is used without the name of a step", help: exampleOfStep)

  static let secretNotNamed = Diagnostic(
    "W0312", "\"secrets\" is used without the name of a secret",
    help: "write the name of a secret after it: secrets.TOKEN")

  static func memberNotNamed(_ group: String) -> Diagnostic {
    Diagnostic(
      "W0312", "\"steps\" of group \"\(group)\" is used without the name of a step",
      help: exampleOfStep)
  }

  private static let exampleOfStep = "write the id of a step after it: steps.build.stdout"

  static func unknownMember(
    _ name: String, of owner: String, known: [String], nearest: String?
  ) -> Diagnostic {
    Diagnostic(
      "W0312", "\(owner) has no \"\(name)\"", help: nearest.asSuggestion ?? listing(known))
  }

  /// Headers are found by their lowercase names.
  static func headerInCapitals(_ name: String) -> Diagnostic {
    Diagnostic(
      "W0312", "header \"\(name)\" is never found: header names are in lower case",
      help: "write headers['\(name.lowercased())']")
  }

  static func unknownOutput(
    _ name: String, of owner: OutlineMember.Subject, known: [String], nearest: String?
  ) -> Diagnostic {
    Diagnostic(
      "W0313", "\(owner) has no output \"\(name)\"",
      help: nearest.asSuggestion ?? listing(known)
        ?? "declare it there: \"outputs\": { \(owner.example(ofOutput: name))")
  }

  static func unknownInput(_ name: String, known: [String], nearest: String?) -> Diagnostic {
    Diagnostic(
      "W0314", "the workflow has no input \"\(name)\"",
      help: nearest.asSuggestion ?? listing(known)
        ?? "declare it: \"inputs\": { \"…\": { \"type\": \"string\" } }")
  }

  /// An input of another file that is known only during the run, but needed before.
  static func lateInput(_ name: String, in site: TextSite) -> Diagnostic {
    Diagnostic(
      "W0336",
      "\(site.key) is evaluated before anything runs, but the value of input "
        + "\"\(name)\" is only known later",
      help: "write the value literally, or compute it from inputs, run and workflow only")
  }

  static func unknownState(_ name: String, known: [String], nearest: String?) -> Diagnostic {
    Diagnostic(
      "W0340", "the workflow has no state \"\(name)\"",
      help: nearest.asSuggestion ?? listing(known)
        ?? "declare it: \"state\": { \"…\": { \"default\": 0, \"value\": \"${{ … }}\" } }")
  }

  static let stateOfNestedFile = Diagnostic(
    "W0232", "only the file that is run can have \"state\", not one that a step runs",
    help:
      "declare an input here, and pass the value with \"with\"; declare the state in the other file"
  )

  static func unknownVariable(
    _ name: String, isOfSameLayer: Bool, nearest: String?
  ) -> Diagnostic {
    Diagnostic(
      "W0315", "no enclosing \"env\" sets the variable \"\(name)\"",
      help: isOfSameLayer
        ? "a value can only read variables of outer levels: repeat the value, or set it further out"
        : nearest.asSuggestion
          ?? "set it in \"env\", use \"$NAME\" in the script, or declare an input and pass it "
          + "with -i")
  }

  static func unknownSecret(_ name: String, known: [String], nearest: String?) -> Diagnostic {
    Diagnostic(
      "W0316", "the workflow has no secret \"\(name)\"",
      help: nearest.asSuggestion ?? listing(known)
        ?? "declare it: \"secrets\": { \"\(name)\": { \"env\": \"VARIABLE\" } }")
  }

  /// `item`, `index` or `matrix` without a matching loop, although there may be one of the other kind.
  static func outsideOfLoop(_ context: ValueContext, hasOther: Bool) -> Diagnostic {
    let help =
      switch (context, hasOther) {
      case (.matrix, true): "the enclosing loop is a \"forEach\": its element is \"item\""
      case (_, true): "the enclosing loop is a \"matrix\": its values are matrix.AXIS"
      case (_, false):
        "it is available in the keys of a step or group with a \(context.loopName), and inside it"
      }
    return Diagnostic(
      "W0327", "\"\(context.rawValue)\" is used outside a \(context.loopName)", help: help)
  }

  /// The name of a loop's elements, used outside of the loop.
  static func elementOf(_ name: String, of loop: String, hasID: Bool) -> Diagnostic {
    Diagnostic(
      "W0327", "\"\(name)\" is an element of \"\(loop)\", but is used outside of it",
      help: hasID
        ? "from outside read \"steps.\(loop).results\""
        : "give the loop an \"id\", and read its \"results\" from outside")
  }

  static func beforeElements(_ name: String, in site: TextSite) -> Diagnostic {
    Diagnostic(
      "W0327", "\"\(name)\" is used in \(site.key), which is evaluated before there are elements",
      help: "elements of an enclosing loop can be read there, but not those of its own")
  }
}

/// Results that cannot be read there, or that a step does not have.
extension Diagnostic {
  static func readsItself(_ address: String, isGroup: Bool) -> Diagnostic {
    Diagnostic(
      "W0319", "\(isGroup ? "group" : "step") \"\(address)\" reads itself",
      help: isGroup
        ? "name a step inside it" : "a step reads itself as \"self\", in its \"outputs\"")
  }

  static func readsGroupAround(_ address: String) -> Diagnostic {
    Diagnostic(
      "W0319",
      "the expression reads \"\(address)\", which is an enclosing group that has not ended yet",
      help: "name the members that run before this step")
  }

  static func readsMember(_ step: String) -> Diagnostic {
    Diagnostic(
      "W0319",
      "the expression reads \"\(step)\", which is inside the group and has not ended yet",
      help: "only the \"outputs\" of a group can read its members")
  }

  static func readsInsideOf(_ step: String, of sealed: OpaqueGroup) -> Diagnostic {
    Diagnostic(
      "W0326",
      "the expression reads \"\(step)\", which cannot be named from outside \"\(sealed.address)\" "
        + "(\(sealed.reason.rawValue))", help: sealed.help)
  }

  static func readsFinalizer(_ step: String, _ scope: FinalizerScope) -> Diagnostic {
    Diagnostic(
      "W0329", "the expression reads \"\(step)\", which \(scope.reason)", help: scope.help)
  }

  static func readsOwnOutputs(_ owner: String) -> Diagnostic {
    Diagnostic(
      "W0319", "\(owner) reads its own outputs", help: "repeat the expression of the other output")
  }

  static func failedHasNoOutputs(_ owner: String) -> Diagnostic {
    Diagnostic(
      "W0319", "\(owner) reads its own outputs after an attempt has failed",
      help: "outputs exist only after a success: read other members of self")
  }

  static func readsTerminal(_ step: String, field: String) -> Diagnostic {
    Diagnostic(
      "W0320", "step \"\(step)\" writes to the terminal, so it has no \(field)",
      help: "remove \"tty\" from \"\(step)\", or let it write to a file")
  }

  static func savesBody(_ step: String, field: String) -> Diagnostic {
    Diagnostic(
      "W0320", "step \"\(step)\" saves the response body to a file, so it has no \(field)",
      help: "remove \"saveTo\" from \"\(step)\", or read the file in another step")
  }

  /// - Parameter action: Describes the action of the step, which runs no program.
  static func runsNothing(_ step: String, field: String, _ action: String) -> Diagnostic {
    Diagnostic(
      "W0320", "step \"\(step)\" \(action), so it has no \(field)",
      help: "read its outcome, or its outputs")
  }

  /// A member that the result of each element has, but the combined result does not.
  ///
  /// - Parameter rest: The member with the names after it.
  static func partOfMany(
    _ name: String, of owner: OutlineMember.Subject, results: String, _ rest: String
  ) -> Diagnostic {
    Diagnostic(
      "W0328", "\(owner) runs once for each element, so it has no single \"\(name)\"",
      help: name == StepField.members
        ? "read values of its members through its own \"outputs\": \(results)[0].outputs"
        : "read it from one element, \(results)[0].\(rest), or from all, \(results).*.\(rest)")
  }

  static func outputWithoutValue(_ name: String, of owner: String) -> Diagnostic {
    Diagnostic(
      "W0325", "output \"\(name)\" of \(owner) has no value, and no program that could write it",
      help: "write { \"value\": \"${{ … }}\" }")
  }

  static func mayBeMissing(_ absence: Absence, expression: String) -> Diagnostic {
    let fallback = "give a default\(absence.producer == nil ? ":" : ",") ${{ \(expression) || '' }}"
    return Diagnostic(
      "W0503", "\"\(expression)\" may be missing: \(absence.reason)",
      help: absence.producer.map {
        "\(fallback), or run this only \"if\": \"\($0).outcome == 'success'\""
      } ?? fallback, severity: .warning)
  }
}

/// Secrets that would become visible.
extension Diagnostic {
  static func secret(in site: TextSite) -> Diagnostic {
    let help =
      switch site {
      case .http:
        "in a request, use secrets in \"url\", \"query\", \"headers\", \"auth\" and the body"
      case .script: "put it in \"env\", and use \"$NAME\" in the script"
      case .argument:
        "command lines are visible to all users of the machine: pass it in \"env\" or \"stdin\""
      case .condition, .retryCondition:
        "the result of a condition is visible: use a value that is not secret"
      case .state: "state is kept in a file: compute it from values that are not secret"
      case .elementKey, .axis, .include, .exclude:
        "it would be visible in the addresses of elements"
      default: "use secrets in \"env\", \"stdin\" and \"outputs\""
      }
    return Diagnostic("W0318", "a secret cannot be used in \(site.key)", help: help)
  }

  static let secretKeys = Diagnostic(
    "W0318",
    "the elements are secret, but the keys of an object are visible in element addresses",
    help: "use an array, whose elements are named by their index")

  /// A secret output of a cached step.
  static func secretOfCached(_ name: String) -> Diagnostic {
    Diagnostic(
      "W0318", "output \"\(name)\" is secret, and the step has \"cache\"",
      help: "secrets are never stored: produce it in a step without \"cache\"")
  }

  /// A secret for an input of another file that is not declared to be secret.
  static func secretForOpenInput(_ name: String) -> Diagnostic {
    Diagnostic(
      "W0318", "a secret is passed to input \"\(name)\", which is not declared secret",
      help: "declare the input with \"secret\": true, so that its value is masked")
  }
}

/// Values that do not suit the place where they are used.
extension Diagnostic {
  static func wrongType(
    found: String, wanted: String, in site: TextSite, help: String?
  ) -> Diagnostic {
    Diagnostic("W0321", "\(site.key) is given \(found), expected \(wanted)", help: help)
  }

  static func notAlone(_ site: TextSite) -> Diagnostic {
    Diagnostic(
      "W0322", "\(site.key) has text around an expression, expected exactly one expression",
      help: "remove the text before and after it: \"${{ … }}\"")
  }

  static func unsafeInScript(message: String, help: String) -> Diagnostic {
    Diagnostic("W0323", message, help: help)
  }

  static func variableRunsCode(_ name: String) -> Diagnostic {
    Diagnostic(
      "W0324", "the value of \(name) is computed, but programs execute that variable as code",
      help: "write the value without an expression, or use a different variable")
  }

  /// - Parameter argument: The position in the command line; `nil` in a script.
  static func mayBeOption(argument: Int?, expression: String) -> Diagnostic {
    Diagnostic(
      "W0505",
      "\(argument.map { "run[\($0)]" } ?? "an argument") begins with \"\(expression)\": "
        + "a value that starts with \"-\" would be read as an option",
      help: "put \"--\" before it, if the program supports that, or restrict the input with "
        + "\"pattern\" or \"enum\"", severity: .warning)
  }

  /// A value after an option that runs its argument as code in many programs.
  static func mayBeRun(_ expression: String, program: String, option: String) -> Diagnostic {
    Diagnostic(
      "W0506", "\"\(expression)\" follows \"\(option)\" of \(quoted(program)), which may run it",
      help: "if it does, put the value in \"env\" and read the variable there; a \"pattern\" or "
        + "\"enum\" of the input that excludes code silences this warning", severity: .warning)
  }

  /// A variable with a computed value, in a script that evaluates or runs it.
  ///
  /// - Parameter obstacle: The line and the construct after which the script is not read; it may then evaluate any
  ///   variable.
  static func variableEvaluated(
    _ name: String, by step: String, _ obstacle: String?
  ) -> Diagnostic {
    guard let obstacle else {
      return Diagnostic(
        "W0506",
        "the variable \"\(name)\" holds a value, and the command of \"\(step)\" evaluates it",
        help: "restrict the value with a \"pattern\" or \"enum\" of its input, or pass it as an "
          + "argument", severity: .warning)
    }
    return Diagnostic(
      "W0506",
      "the variable \"\(name)\" holds a value, and the script of \"\(step)\", which cannot be parsed "
        + "to its end, may evaluate it: \(obstacle)",
      help: "write that part in a different way, or restrict the value with a \"pattern\" or "
        + "\"enum\" of its input", severity: .warning)
  }

  /// A variable with a computed value, in a step that runs `make`.
  static func variableExpanded(_ name: String, by step: String) -> Diagnostic {
    Diagnostic(
      "W0506",
      "the variable \"\(name)\" holds a value, and \"make\", which \"\(step)\" runs, expands variables: "
        + "$(shell …) in it would run a command",
      help: "restrict the value with a \"pattern\" or \"enum\" of its input", severity: .warning)
  }

  /// A value in the standard input of a command that evaluates or runs it.
  static func inputEvaluated(
    _ expression: String, by step: String, _ evaluation: ScriptEvaluation
  ) -> Diagnostic {
    inputProblem(
      "\"\(expression)\" is in the standard input of \"\(step)\"", evaluation,
      help: "put it in \"env\" and read the variable there, or restrict it with an \"enum\" of its "
        + "input")
  }

  /// A log with a value, as the standard input of a command that evaluates or runs it.
  static func logEvaluated(
    of source: String, by step: String, _ evaluation: ScriptEvaluation
  ) -> Diagnostic {
    inputProblem(
      "the log of \"\(source)\", which has values in its command, is the standard input of "
        + "\"\(step)\"", evaluation,
      help: "write the program literally, and let it read the data from a file or a variable")
  }

  private static func inputProblem(
    _ input: String, _ evaluation: ScriptEvaluation, help: String
  ) -> Diagnostic {
    guard !evaluation.includesInput, let obstacle = evaluation.obstacle else {
      return unsafeInScript(
        message: "\(input), whose command evaluates or runs what it reads", help: help)
    }
    return Diagnostic(
      "W0506",
      "\(input), whose script cannot be parsed to its end and may evaluate what it reads: "
        + obstacle, help: help, severity: .warning)
  }

  /// A condition that always has the same value.
  static func decidesNothing(_ site: TextSite, _ truth: Bool, found: String) -> Diagnostic {
    Diagnostic(
      "W0511", "\"\(site.key)\" is always \(truth), because \(found) counts as \(truth)",
      help: "compare it with the expected value, or write \(truth)", severity: .warning)
  }
}

/// The reason why a value may be missing.
struct Absence: Sendable, Hashable {
  let reason: String
  /// The name that the reader uses for the step or group, if it has an `if`.
  private(set) var producer: String?

  /// The step or group is allowed to fail.
  static func failure(of step: String) -> Absence {
    Absence(reason: "step \"\(step)\" is allowed to fail")
  }

  /// The step or group has an `if`; `producer` is the name that the reader uses for it.
  static func skip(of step: String, producer: String) -> Absence {
    Absence(reason: "\"\(step)\" has an \"if\", and may be skipped", producer: producer)
  }

  /// The reader runs whatever the outcome of the step or group.
  static func readerRunsAnyway(_ step: String) -> Absence {
    Absence(reason: "this runs even if \"\(step)\" failed or never started")
  }

  /// The outputs of a group read a member that may be ended because others were faster.
  static func loss(of step: String, in group: String) -> Absence {
    Absence(reason: "\"\(step)\" is cancelled when others in \"\(group)\" are faster")
  }

  /// The member may win the race, but has no such output.
  static func winner(_ race: String, of member: String) -> Absence {
    Absence(
      reason: "\"\(race)\" may be won by \"\(member)\", which has no such output")
  }
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
    case .state(let name): "state.\(name).value"
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
    case .probe: "service.ready"
    case .computed(let key): key.rawValue
    case .http(let site): site.path
    }
  }
}

extension OutlineMember.Subject {
  /// An example of the declaration of an output.
  fileprivate func example(ofOutput name: String) -> String {
    switch self {
    case .step:
      "\"\(name)\": \"${{ self.stdout }}\" }, or { \"\(name)\": {} } if its program writes \(name)=… to "
        + "$WEFT_OUTPUT"
    case .group: "\"\(name)\": \"${{ steps.MEMBER.stdout }}\" }"
    }
  }
}

extension ValueContext {
  /// The key that defines the context.
  fileprivate var loopName: String { self == .matrix ? "\"matrix\"" : "\"forEach\"" }
}
