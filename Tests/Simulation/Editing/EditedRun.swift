import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftTestKit

@testable import WeftExecution

/// A run whose workflow is edited between its parts, each of which fails, is cancelled or is killed; in the last one
/// nothing fails. The edits are accepted as `weft resume --accept-changes` does.
struct EditedRun {
  private(set) var violations: [String] = []
  private(set) var edits = 0
  /// The number of commands that did not run again.
  private(set) var kept = 0
  private(set) var parts: [RunPart] = []
  private(set) var outlines: [String] = []

  /// - Returns: `nil` if the planner rejects the first workflow.
  init?(seed: UInt64) {
    var random = SeededGenerator(seed: seed ^ 0xED1)
    var workflow = EditedWorkflow(seed: seed)
    guard var plan = Planner.plan(workflow.workflow).plan else { return nil }
    var (recorded, done) = (RunHistory(), Set<Int>())
    // Whether these run again is not known; it is decided by the edit after which they have not run yet.
    var uncertain = Set<Int>()
    let partCount = Int.random(in: 2...4, using: &random)
    for number in 1...partCount {
      let isLast = number == partCount
      var circumstances = Simulation.Circumstances(
        part: UInt64(number), failures: isLast ? 0 : [0, 20, 45].randomElement(using: &random)!,
        isQuick: isLast, interruptions: [], isRecorded: true)
      if number > 1 {
        var edited = workflow
        let effects = edited.edit()
        guard let next = Planner.plan(edited.workflow).plan?.numbered(after: plan) else { return }
        let model = EditModel(edited)
        for id in effects.changed { done.subtract(model.affected(by: id)) }
        done.subtract(effects.renewed)
        for content in effects.replaced { uncertain.formUnion(model.affected(byContent: content)) }
        var difference = PlanDifference(from: plan, to: next)
        // What the run knows of them is of a version before the earlier one.
        let addresses = PlanAddresses(next)
        let known = recorded.run.steps.addresses.compactMap { addresses.step(at: $0) }
        difference.countAsChanged(Set(known.map { next.steps[$0].address }))
        let changed = difference.allChanged.map(\.text)
        if !changed.isEmpty {
          guard let excluded = try? next.stepsExcluded(by: StepChoice(from: changed)) else {
            violations.append("part \(number): \(changed) are not steps of it")
            return
          }
          circumstances.rerun.steps = Set(next.steps.indices).subtracting(excluded)
        }
        circumstances.rerun.addMembers(
          added: difference.added, moved: difference.moved, in: next, after: recorded.run)
        circumstances.recorded = recorded.run
        circumstances.earlier = plan
        (workflow, plan) = (edited, next)
        edits += 1
      }
      let ending = Int.random(in: 0..<3, using: &random)
      if !isLast, ending == 0 {
        circumstances.interruptions = [
          .init(moment: .seconds(Int.random(in: 0...15, using: &random)), kills: false)
        ]
      }
      let made = RandomWorkflow(workflow: workflow.workflow)
      guard let simulation = Simulation(seed: seed, made, in: circumstances) else { return }
      let isCut = ending == 1 && !isLast
      let count = isCut ? Int.random(in: 1...simulation.records.count, using: &random) : .max
      let records = simulation.records.prefix(count)
      recorded.append(
        records.map(\.kind), rerunning: circumstances.rerun.addresses(in: plan), visiting: { _ in })
      let heard =
        records.count < simulation.records.count
        ? simulation.records[records.count].eventsBefore : .max
      let events = Array(simulation.events.prefix(heard))
      parts.append(RunPart(events: events, end: isCut ? nil : simulation.report.end))
      outlines.append(made.contents)
      check(events, of: plan, number, done, uncertain)
      kept += done.count
      let successes = EditedRun.successes(in: records.map(\.kind), of: plan)
      done.formUnion(successes)
      uncertain.subtract(successes)
      guard isLast else { continue }
      let end = simulation.report.end
      if end?.outcome != .success {
        violations.append("the last part ends as \(String(describing: end))")
      }
      let missing = EditModel(workflow).commands.subtracting(done)
      if !missing.isEmpty { violations.append("commands \(missing.sorted()) are never run") }
      let left = EditModel(workflow).commands.subtracting(
        started(in: events, of: plan).map(\.content))
      let late = left.subtracting(doneBefore)
      if !late.isEmpty {
        violations.append("commands \(late.sorted()) are not run in the last part")
      }
    }
  }

  /// The commands that were done before the latest part.
  private var doneBefore: Set<Int> = []

  private mutating func check(
    _ events: [RunEvent], of plan: Plan, _ number: Int, _ done: Set<Int>, _ uncertain: Set<Int>
  ) {
    doneBefore = done.union(uncertain)
    var seen = Set<Int>()
    for (address, content) in started(in: events, of: plan) {
      if !seen.insert(content).inserted {
        violations.append("part \(number): \(address) (\(content)) starts twice")
      }
      if done.contains(content), !uncertain.contains(content) {
        violations.append(
          "part \(number): \(address) (\(content)) is done and unchanged, and starts again")
      }
    }
  }

  private func started(
    in events: [RunEvent], of plan: Plan
  ) -> [(address: StepAddress, content: Int)] {
    let addresses = PlanAddresses(plan)
    return events.compactMap { event in
      guard case .stepStarted(let address, _, _) = event.kind,
        let content = EditedRun.content(at: address, addresses, plan)
      else { return nil }
      return (address, content)
    }
  }

  private static func successes(in records: [RunRecord.Kind], of plan: Plan) -> Set<Int> {
    let addresses = PlanAddresses(plan)
    return Set(
      records.compactMap { record in
        guard case .event(.stepFinished(let address, let end), _) = record,
          end.conclusion == .success
        else { return nil }
        return content(at: address, addresses, plan)
      })
  }

  private static func content(
    at address: StepAddress, _ addresses: PlanAddresses, _ plan: Plan
  ) -> Int? {
    guard let index = addresses.step(at: address),
      case .run(let command) = plan.steps[index].step.action,
      case .program(let arguments) = command.invocation
    else { return nil }
    return Int(arguments[0].dropFirst())
  }

  /// Prints the run for debugging.
  func report() {
    for (part, outline) in zip(parts, outlines) {
      print(outline)
      for event in part.events { print(event.elapsed, String("\(event.kind)".prefix(130))) }
    }
  }
}

extension RandomWorkflow {
  /// A line for each step, with its content.
  fileprivate var contents: String {
    var lines = ["\(workflow.body.order)"]
    func add(_ steps: [Step], _ indent: String) {
      for step in steps {
        let needs = step.needs.map { " needs \($0.map(\.name))" } ?? ""
        switch step.action {
        case .group(let group):
          lines.append("\(indent)\(step.id?.text ?? "-") \(group.order)\(needs)")
          add(group.members, indent + "  ")
        case .run(let command):
          lines.append("\(indent)\(step.id?.text ?? "-") \(command.invocation)\(needs)")
        default: break
        }
      }
    }
    add(workflow.body.members, "  ")
    return lines.joined(separator: "\n")
  }
}
