import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// Runs of workflows in which some steps do not run exactly once.
extension SampleRuns {
  /// A step that succeeds at the third attempt, one that is not retried, and a group that is.
  static var attempts: ScriptedRun {
    var run = ScriptedRun(steps: 5, groups: 1)
    run.start("fetch", "odd")
    run.at(80)
    run.fail("odd", code: 64, notRetried: "\"retry\" does not cover failures of class \"exit:64\"")
    run.write("fetch", "no answer")
    run.retry("fetch", attempt: 1, of: 4, after: 700)
    run.at(780)
    run.start("fetch", attempt: 2)
    run.at(800)
    run.retry("fetch", attempt: 2, of: 4, after: 0)
    run.start("fetch", attempt: 3)
    run.at(850)
    run.succeed("fetch", attempts: 3)
    run.add(.groupStarted(StepAddress("deploy"), GroupStart()))
    run.start("push")
    run.at(900)
    run.succeed("push")
    run.start("verify")
    run.at(950)
    run.failUncounted("verify")
    run.forget(succeeded: 1)
    run.retryGroup("deploy", attempt: 1, of: 2, after: 1500)
    run.at(2450)
    run.add(.groupStarted(StepAddress("deploy"), GroupStart(attempt: 2)))
    run.start("push")
    run.succeed("push")
    run.start("verify")
    run.at(2500)
    run.succeed("verify")
    run.endGroup("deploy", attempts: 2, lasting: 50)
    run.start("pause")
    run.add(.stepWaiting(StepAddress("pause"), for: .milliseconds(2500)))
    run.at(5000)
    run.succeed("pause")
    run.finish()
    return run
  }

  /// Interrupted while a group waits for its third attempt.
  static var cutShort: ScriptedRun {
    var run = waiting(untilAttempt: 3)
    run.cancel(.signal("INT"))
    run.cancelGroup("deploy", attempts: 2, lasting: 50)
    run.finish()
    return run
  }

  /// A failure elsewhere prevents the second attempt.
  static var heldBack: ScriptedRun {
    var run = waiting(untilAttempt: 2)
    run.start("other")
    run.fail("other")
    run.endGroup("deploy", failingBy: "verify", lasting: 50)
    run.finish()
    return run
  }

  private static func waiting(untilAttempt last: Int) -> ScriptedRun {
    var run = ScriptedRun(steps: 2, groups: 1)
    for attempt in 1..<last {
      run.add(.groupStarted(StepAddress("deploy"), GroupStart(attempt: attempt)))
      run.start("verify")
      run.at(attempt * 1000)
      run.failUncounted("verify")
      run.retryGroup("deploy", attempt: attempt, of: 3, after: 500)
      run.at(attempt * 1000 + 500)
    }
    return run
  }

  /// A loop over twelve elements of which one fails, and a group in a loop over two.
  static var elements: ScriptedRun {
    var run = ScriptedRun(steps: 5, groups: 2)
    run.add(.groupStarted(StepAddress("up"), GroupStart(elements: 12)))
    for index in 0..<12 {
      run.start("up[\(index)]")
      run.at(100 * (index + 1))
      if index == 7 {
        run.write("up[7]", "refused")
        run.fail("up[7]", isTolerated: false)
      } else {
        run.succeed("up[\(index)]")
      }
    }
    run.tolerateFailures()
    run.endGroup("up", lasting: 1200)
    run.add(.groupStarted(StepAddress("deploy"), GroupStart(elements: 2)))
    for key in ["eu", "us west"] {
      run.add(.groupStarted(StepAddress("deploy[\(key)]"), GroupStart()))
      run.start("deploy[\(key)].push")
      run.at(1300)
      run.succeed("deploy[\(key)].push")
    }
    run.start("deploy[eu].2")
    run.skip("deploy[us west].2", because: .condition(of: StepAddress("deploy[us west].2")))
    run.endGroup("deploy[us west]", lasting: 100)
    run.at(1400)
    run.fail("deploy[eu].2")
    run.endGroup("deploy[eu]", failingBy: "deploy[eu].2", lasting: 200)
    run.endGroup("deploy", failingBy: "deploy[eu].2", lasting: 200)
    run.skip("later", "other", because: .heldBack(by: StepAddress("deploy[eu].2")))
    run.finish()
    return run
  }

  /// A race whose first failure does not decide it; steps skipped by conditions.
  static var race: ScriptedRun {
    let mirror = StepAddress("mirror")
    let reason = CancelReason.raceWon(mirror, by: StepAddress("near"))
    var run = ScriptedRun(steps: 7, groups: 2)
    run.add(.groupStarted(mirror, GroupStart()))
    run.start("near", "far", "broken")
    run.at(40)
    run.write("broken", "no such host")
    run.fail("broken", code: 6)
    run.at(300)
    run.succeed("near")
    run.at(310)
    run.cancel("far", reason)
    run.tolerateFailures()
    run.endGroup("mirror", winner: "near", lasting: 310)
    run.skip("install", because: .condition(of: StepAddress("install")))
    run.skip("checks.1", "checks.2", because: .condition(of: StepAddress("checks")))
    run.skip("unwanted", because: .notSelected)
    run.finish()
    return run
  }
}

enum ControlRuns {
  private static let deployment = Workflow(parallel: [
    Step("deploy", steps: [Step("verify", run: "verify")]).retry(2), Step("other", run: "other"),
  ])

  static let workflows: [String: Workflow] = [
    "attempts": Workflow(steps: [
      Step(parallel: [
        Step("fetch", run: "curl …").retry(3), Step("odd", run: "exit 64").retry(2),
      ]),
      Step("deploy", steps: [Step("push", run: "push"), Step("verify", run: "verify")]).retry(1),
      Step("pause", wait: .milliseconds(2500)),
    ]),
    "cut-short": deployment, "held-back": deployment,
    "elements": Workflow(steps: [
      Step("up", run: "put").forEach(
        (0..<12).map(String.init), tolerating: .count(1)),
      Step("deploy", steps: [Step("push", run: "push"), Step(run: "verify")]).forEach([
        "eu", "us west",
      ]),
      Step("later", run: "echo later"), Step("other", run: "echo other"),
    ]),
    "race": Workflow(steps: [
      Step(
        "mirror",
        race: [
          Step("near", run: "curl near"), Step("far", run: "curl far"),
          Step("broken", run: "curl broken"),
        ]),
      Step("install", run: "install").if("false"),
      Step("checks", parallel: [Step(run: "a"), Step(run: "b")]).if("false"),
      Step("unwanted", run: "true"),
    ]),
  ]
}
