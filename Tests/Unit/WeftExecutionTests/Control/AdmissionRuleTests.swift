import Testing
import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

@Suite struct AdmissionRuleTests {
  private static let failed = SkipReason.dependencyFailed(StepAddress("a"))
  private static let held = SkipReason.heldBack(by: StepAddress("a"))
  private static let cancelled = SkipReason.cancelled(.requested)

  private func decision(
    _ condition: String?, obstacle: SkipReason? = nil, closure: SkipReason? = nil,
    absence: SkipReason? = nil, startsAlways: Bool = false, value: Bool = true
  ) throws -> String {
    var step = Step("s", run: ["s"])
    if let condition { step = step.if(Condition(condition)) }
    let plan = try #require(Planner.plan(Workflow(steps: [step])).plan)
    let rule = AdmissionRule(
      obstacle: obstacle, closure: closure, absence: absence,
      condition: StartCondition(plan.values.texts(ofStep: 0)), startsAlways: startsAlways)
    return switch rule.decide(address: StepAddress("s"), { _, _ in .success(value) }) {
    case .start(let immunity): "start \(immunity)"
    case .skip(let reason): "skip \(reason)"
    case .fail: "fail"
    }
  }

  @Test(arguments: [
    (nil, nil, "start none"), (nil, failed, "skip \(failed)"), (nil, held, "skip \(held)"),
    ("run.attempt == 1", failed, "skip \(failed)"), ("run.attempt == 1", nil, "start none"),
    ("success()", failed, "start none"),
    ("failure()", failed, "start fromFailures"), ("always()", failed, "start fromCancellation"),
    ("cancelled()", failed, "start fromCancellation"),
    ("failure() || always()", failed, "start fromCancellation"),
  ])
  func statusFunctionsDecideWhatBlocks(
    condition: String?, obstacle: SkipReason?, expected: String
  ) throws {
    #expect(try decision(condition, obstacle: obstacle) == expected)
  }

  @Test(arguments: [
    ("success()", held, "skip \(held)"), ("failure()", held, "start fromFailures"),
    ("always()", cancelled, "start fromCancellation"),
  ])
  func closedScopeAdmitsFailureHandlers(
    condition: String, closure: SkipReason, expected: String
  ) throws {
    #expect(try decision(condition, obstacle: closure, closure: closure) == expected)
  }

  @Test(arguments: ["always()", "failure()", "cancelled()"])
  func membersOfAnUnstartedGroupDoNotStart(condition: String) throws {
    let absence = SkipReason.condition(of: StepAddress("g"))
    #expect(try decision(condition, absence: absence) == "skip \(absence)")
  }

  @Test func aFalseConditionIsTheStepsOwnReason() throws {
    #expect(
      try decision("always()", value: false) == "skip \(SkipReason.condition(of: StepAddress("s")))"
    )
  }

  @Test(arguments: [(cancelled, true), (cancelled, false), (failed, true), (failed, false)])
  func aConditionThatOnlyLacksSuccessIsSkippedForTheReasonOfThat(
    obstacle: SkipReason, lacksOnlySuccess: Bool
  ) throws {
    let step = Step("s", run: ["s"]).if("always() && success()")
    let plan = try #require(Planner.plan(Workflow(steps: [step])).plan)
    var rule = AdmissionRule(condition: StartCondition(plan.values.texts(ofStep: 0)))
    rule.obstacle = obstacle
    if case .cancelled = obstacle { rule.closure = obstacle }
    let expected = lacksOnlySuccess ? obstacle : .condition(of: StepAddress("s"))
    let admission = rule.decide(address: StepAddress("s")) { .success($1 && lacksOnlySuccess) }
    guard case .skip(let reason) = admission else {
      Issue.record("it starts")
      return
    }
    #expect(reason == expected)
  }

  @Test func atTheEndFailuresHoldNothingBackAndACancellationDoes() throws {
    #expect(
      try decision(nil, obstacle: Self.failed, closure: Self.held, startsAlways: true)
        == "start fromFailures")
    #expect(
      try decision(nil, obstacle: Self.cancelled, closure: Self.cancelled, startsAlways: true)
        == "skip \(Self.cancelled)")
  }
}
