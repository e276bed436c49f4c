import WeftDefinition
import WeftDiagnostics
import WeftPlanning

/// Checks a test file against its workflow: steps that do not exist, results that a step cannot have, and expectations
/// that no run can meet. Nothing is run for that.
enum CaseChecker {
  static func problems(of file: TestFile, with plan: Plan) -> [Diagnostic] {
    let mostEngines = 1 + (file.cases.map(\.resumptions.count).max() ?? 0)
    var shared = ScriptChecker(CheckFindings(file, plan), engines: mostEngines)
    shared.check(file.settings.steps)
    var findings = shared.findings
    for testCase in file.cases {
      var scripts = ScriptChecker(findings, engines: 1 + testCase.resumptions.count)
      scripts.check(testCase.settings.steps)
      for resumption in testCase.resumptions { scripts.check(resumption.steps) }
      findings = scripts.findings
      let facts = CaseFacts(testCase, plan, &findings)
      InterruptionChecker.check(facts, &findings)
      RunExpectationChecker.check(facts, &findings)
      for step in testCase.expected.steps { StepExpectationChecker.check(step, facts, &findings) }
      OrderExpectationChecker.check(facts, &findings)
    }
    return findings.diagnostics
  }

  /// The kinds of steps of which `maxParallel` run at once.
  static let kindsWithSlots: Set<ActionKind> = [.run, .http, .use]
}

/// Facts of a case that decide what its run can do.
struct CaseFacts {
  let testCase: TestCase
  var expected: TestExpectations { testCase.expected }
  /// The acts of all interruptions, and of those of the last engine.
  let acts: Set<TestInterruption.Act>
  let lastActs: Set<TestInterruption.Act>
  /// Whether an engine that another one follows is gone before its end.
  let leavesDoubt: Bool
  /// The nodes of steps that are not selected.
  private let excluded: Set<Plan.NodeIndex>
  let hasSelection: Bool

  /// Reports names in the selection that do not exist.
  init(_ testCase: TestCase, _ plan: Plan, _ findings: inout CheckFindings) {
    self.testCase = testCase
    let engines = [testCase.interruptions] + testCase.resumptions.map(\.interruptions)
    let all = engines.map { Set($0.map(\.act.value)) }
    acts = all.reduce([]) { $0.union($1) }
    lastActs = all.last ?? []
    leavesDoubt = all.dropLast().contains { $0.contains(.crash) }
    var choice = StepChoice()
    for (names, path) in [
      (testCase.only, \StepChoice.only), (testCase.skip, \.skip), (testCase.from, \.from),
    ] {
      for name in names where findings.findInPlan(name) {
        choice[keyPath: path].append(name.value)
      }
    }
    hasSelection = !choice.isEmpty
    let indices = (try? plan.stepsExcluded(by: choice)) ?? []
    excluded = Set(indices.map { plan.steps[$0].node })
  }

  /// Whether a step is left out by `only`, `skip` or `from`.
  func isExcluded(_ shape: AddressShapes.Shape) -> Bool { excluded.contains(shape.node) }

  /// The upper bound of the virtual time of a run without pauses.
  var longest: Duration? {
    testCase.resumptions.allSatisfy { $0.pause == .zero } ? expected.duration?.value.atMost : nil
  }
}
