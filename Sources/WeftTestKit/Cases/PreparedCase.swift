import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform

/// A case whose surroundings fit its workflow.
struct PreparedCase: Sendable {
  let testCase: TestCase
  let plan: Plan
  let addresses: PlanAddresses
  let inputs: InputValues
  let book: ScriptBook
  /// The scripts of each engine that resumes the run.
  let resumedBooks: [ScriptBook]
  let environment: EnvironmentBlock
  let hasRealSteps: Bool
  private let secretValues: [RunSecrets.Key: Secret]

  /// - Returns: The case, or everything in its surroundings that does not fit.
  static func prepare(
    _ testCase: TestCase, of file: TestFile, _ plan: Plan, _ addresses: PlanAddresses
  ) -> Result<PreparedCase, UnfitCase> {
    var diagnostics: [Diagnostic] = []
    let shared = file.settings
    let inputs = boundInputs(testCase, shared, plan, &diagnostics)
    let secrets = secrets(testCase, file, plan, &diagnostics)
    let environment = environment(testCase, file, &diagnostics)
    checkState(testCase, file, plan, &diagnostics)
    guard let inputs, diagnostics.isEmpty else { return .failure(UnfitCase(diagnostics)) }
    var layers = [testCase.settings.steps, shared.steps]
    let book = ScriptBook(layers)
    let resumedBooks = testCase.resumptions.map { resumption in
      layers.insert(resumption.steps, at: 0)
      return ScriptBook(layers)
    }
    return .success(
      PreparedCase(
        testCase: testCase, plan: plan, addresses: addresses, inputs: inputs, book: book,
        resumedBooks: resumedBooks,
        environment: environment,
        hasRealSteps: layers.joined().contains { $0.results.contains(where: \.isReal) },
        secretValues: secrets))
  }

  /// The secrets of one run, which learns more of them.
  func secrets() -> RunSecrets { RunSecrets(byFile: secretValues) }

  /// The wall clock, which goes with virtual time.
  func wallClock(of time: ManualTime) -> @Sendable () -> WallTime {
    let start = WallTime(
      nanoseconds: testCase.startsAt?.nanoseconds ?? PreparedCase.firstOfJanuary)
    return { start.advanced(by: time.now) }
  }

  /// 2026-01-01T00:00:00Z
  private static let firstOfJanuary: Int64 = 1_767_225_600_000_000_000

  private static func boundInputs(
    _ testCase: TestCase, _ shared: TestSettings, _ plan: Plan, _ diagnostics: inout [Diagnostic]
  ) -> InputValues? {
    let own = testCase.settings.inputs
    let names = Set(own.compactMap { InputName($0.key.stringValue ?? "") })
    let others = shared.inputs.filter { member in
      InputName(member.key.stringValue ?? "").map { !names.contains($0) } ?? true
    }
    let given = (own + others).map { member in
      GivenInput(
        member.key.stringValue ?? "", .value(JSONValue(member.value)), .document(member))
    }
    do throws(InputsError) {
      var values = try InputBinding.bind(plan.workflow.inputs, given, inputSource: .program)
      values.arguments = testCase.arguments.map(\.value)
      values.state = testCase.state.compactMap { given in
        InputName(given.name).map { InputValues.Entry($0, given.value) }
      }
      return values
    } catch {
      diagnostics += error.diagnostics
      return nil
    }
  }

  private static func checkState(
    _ testCase: TestCase, _ file: TestFile, _ plan: Plan, _ diagnostics: inout [Diagnostic]
  ) {
    for given in testCase.state + testCase.expected.state {
      let known = plan.workflow.state
      let declared = known.first { $0.name == InputName(given.name) }
      guard let declared else {
        diagnostics.append(
          Diagnostic(
            .error, code: CaseCode.unfitSurroundings,
            message: "the workflow has no state \"\(given.name)\"", place: file.place(given.range),
            help: NearestName(known.map(\.name.text)).nearest(to: given.name).asSuggestion))
        continue
      }
      for fault in declared.schema.faults(of: given.value) {
        diagnostics.append(
          Diagnostic(
            .error, code: CaseCode.unfitSurroundings,
            message: fault.message(about: "state \"\(given.name)\"", isSecret: false),
            place: file.place(given.range), help: fault.help(isSecret: false)))
      }
    }
  }

  private static func environment(
    _ testCase: TestCase, _ file: TestFile, _ diagnostics: inout [Diagnostic]
  ) -> EnvironmentBlock {
    var block = EnvironmentBlock.empty
    for variable in file.settings.environment + testCase.settings.environment {
      do throws(EnvironmentError) {
        block = try block.setting([(variable.name, variable.value)])
      } catch {
        diagnostics.append(
          Diagnostic(
            .error, code: CaseCode.unfitSurroundings, message: error.message,
            place: file.place(variable.range), help: error.help))
      }
    }
    return block.flattened()
  }

  private static func secrets(
    _ testCase: TestCase, _ file: TestFile, _ plan: Plan, _ diagnostics: inout [Diagnostic]
  ) -> [RunSecrets.Key: Secret] {
    let declared = Set(plan.declaredSecrets.map(\.name.text))
    var values: [String: Named<String>] = [:]
    for given in file.settings.secrets + testCase.settings.secrets {
      if !declared.contains(given.name) {
        diagnostics.append(
          .unknownSecret(
            given.name, nearest: NearestName(declared.sorted()).nearest(to: given.name),
            at: file.place(given.range)))
      }
      values[given.name] = given
    }
    var secrets: [RunSecrets.Key: Secret] = [:]
    for used in plan.usedSecrets {
      let name = used.declaration.name
      guard let given = values[name.text] else {
        diagnostics.append(.missingSecret(name.text, at: file.place(testCase.name.range)))
        continue
      }
      do throws(Secret.ValidationError) {
        secrets[RunSecrets.Key(name, inFile: used.file)] = try Secret(Array(given.value.utf8))
      } catch {
        diagnostics.append(.unfitSecret(name.text, error, at: file.place(given.range)))
      }
    }
    return secrets
  }
}

/// Everything that keeps a case from being run.
struct UnfitCase: Error {
  let diagnostics: [Diagnostic]

  init(_ diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }
}

extension Diagnostic {
  fileprivate static func unknownSecret(
    _ name: String, nearest: String?, at place: Diagnostic.Place
  ) -> Diagnostic {
    Diagnostic(
      .error, code: CaseCode.unfitSurroundings,
      message: "the workflow has no secret \(quoted(name))", place: place,
      help: nearest.asSuggestion)
  }

  fileprivate static func missingSecret(_ name: String, at place: Diagnostic.Place) -> Diagnostic {
    Diagnostic(
      .error, code: CaseCode.unfitSurroundings,
      message: "the workflow reads the secret \"\(name)\", which has no value in this case",
      place: place, help: "write \"secrets\": { \"\(name)\": \"not-a-real-secret\" }")
  }

  fileprivate static func unfitSecret(
    _ name: String, _ fault: Secret.ValidationError, at place: Diagnostic.Place
  ) -> Diagnostic {
    let reason =
      switch fault {
      case .empty: "is empty"
      case .tooShort:
        "is too short, expected at least \(Secret.fewestBytes) bytes, which can be masked"
      case .tooLong: "is too long"
      case .hasNUL: "contains a NUL character"
      case .notUTF8: "is not UTF-8"
      }
    return Diagnostic(
      .error, code: CaseCode.unfitSurroundings, message: "the secret \"\(name)\" \(reason)",
      place: place)
  }
}
