import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord

/// All code that computes with the contents of a journal.
enum JournalConsumers {
  /// A plan with the steps of ``SampleRecords``.
  private static let plan: Plan = {
    let moment = WallMoment(nanoseconds: 1_795_274_099_000_000_000, text: "then")
    let retried = RetryPolicy(max: 3, delay: .seconds(1))
    let workflow = Workflow(parallel: [
      Step("a", run: ["a"]).retry(retried), Step("b", run: ["b"]), Step("c", run: ["c"]),
      Step("w", wait: .until(moment)),
      Step(id: "asks", action: .approve(Approval(message: "?"))),
      Step("g", steps: [Step("inner", run: ["inner"])]).retry(retried),
    ])
    guard let plan = Planner.plan(workflow).plan else { preconditionFailure("no plan") }
    return plan
  }()

  static func consume(_ journal: [UInt8], _ contents: JournalContents) {
    let recorded = contents.run
    var report = RunState(reporting: plan)
    var events = EventJSON(version: "1.2.3")
    var bytes: [UInt8] = []
    for line in journal.split(separator: UInt8(ascii: "\n")).prefix(contents.lines) {
      guard let record = line.withUnsafeBytes({ try? RunRecord(line: $0) }) else { break }
      report.apply(record)
    }
    for isHeld in [false, true] {
      let glance = RunListEntry(SampleRecords.run, recorded, isHeld: isHeld)
      _ = glance.counts.done
      let detail = RunDetail(
        SampleRecords.run, glance.state, recorded, damage: contents.damage, folder: "f")
      _ = RunDetailJSON.rendered(detail)
      _ = ResumeAdvice(detail)
    }
    if let value = report.report {
      let elapsed = value.end?.duration ?? .zero
      events.append([RunEvent(sequence: 1, elapsed: elapsed, kind: .snapshot(value))], to: &bytes)
    }
    resume(recorded)
  }

  /// Resumes the run with an engine, whose timers fire.
  private static func resume(_ recorded: RunState) {
    guard recorded.opening != nil else { return }
    var configuration = EngineConfiguration()
    configuration.journal.recorded = recorded
    configuration.journal.suspendsWhileWaiting = true
    configuration.wallClock = { SampleRecords.start }
    let time = ManualTime()
    let run = RunEngine.start(
      plan, configuration: configuration, executor: ImmediateExecutor(), time: time)
    time.advance(by: .seconds(120))
    run.killNow()
    time.advance(by: .seconds(1))
  }
}
