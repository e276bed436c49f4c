import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftTestKit

@testable import WeftExecution

/// One run in three to six parts, each ended in a different way and in a different world: failures move, and are gone
/// in the last part, which nothing disturbs.
struct SequencedRun {
  let made: RandomWorkflow
  /// The workflow without the one that runs it.
  let inner: RandomWorkflow
  private(set) var parts: [RunPart] = []
  /// The differences between the views of a part that has ended.
  private(set) var disagreements: [String] = []
  /// A run of the workflow in a world without failures from the start.
  let undisturbed: Simulation

  /// The end of a part that is not the last.
  fileprivate enum Ending: CaseIterable {
    /// The run's own end, with or without failures.
    case ownEnd
    case cancelled
    case killedAtOnce
    /// The engine is killed at any record.
    case engineKilled
    /// The engine suspends the run, which waits for an approval.
    case suspended

    /// Mostly deaths of engines.
    static let killed: [Self] = [.engineKilled, .engineKilled, .engineKilled, .ownEnd, .cancelled]
  }

  /// - Parameter isNested: Whether the workflow is run by a step of another workflow, with a group around the step for odd
  ///   seeds, and a second step follows.
  /// - Returns: `nil` if the planner rejects the workflow.
  init?(
    seed: UInt64, _ vocabulary: RandomWorkflow.Vocabulary = .all, nested isNested: Bool = false
  ) {
    self.init(
      seed: seed, RandomWorkflow.make(seed: seed, vocabulary), nested: isNested,
      settlesDoubts: vocabulary == .interruptions)
  }

  /// - Parameter settlesDoubts: Whether parts are resumed with `--rerun-interrupted`, `--skip-interrupted` or neither, and
  ///   the last not without. Then the workflow says what is idempotent.
  init?(
    seed: UInt64, _ made: RandomWorkflow, nested isNested: Bool = false,
    settlesDoubts: Bool = false
  ) {
    var made = made
    var random = SeededGenerator(seed: seed ^ 0x5E9)
    if Int.random(in: 0..<3, using: &random) > 0, !settlesDoubts {
      made.workflow = made.workflow.withIdempotentSteps
    }
    made.workflow = made.workflow.withoutGroupTimeouts
    inner = made
    if isNested {
      let file = Step("c", workflow: made.workflow)
      made.workflow = Workflow(steps: [
        seed.isMultiple(of: 2) ? file : Step("o", steps: [file]), Step("z", run: ["z"]),
      ])
    }
    let prefix = isNested ? "c/" : ""
    guard let plan = Planner.plan(made.workflow).plan else { return nil }
    var excluded: [Int] = []
    if Int.random(in: 0..<6, using: &random) == 0, let choice = plan.randomChoice(&random) {
      excluded = choice
    }
    guard
      let undisturbed = Simulation(
        seed: seed, made, prefix: prefix,
        in: .init(
          failures: 0, isQuick: true, approvesAll: true, interruptions: [], excluded: excluded))
    else { return nil }
    (self.made, self.undisturbed) = (made, undisturbed)
    var recorded = RunHistory()
    var again = RunState(reporting: plan)
    var accepted: Set<StepAddress> = []
    let partCount = Int.random(in: 3...6, using: &random)
    for number in 1...partCount {
      let isLast = number == partCount
      var circumstances = Simulation.Circumstances(
        part: UInt64(number), isRecorded: true, excluded: excluded)
      if number > 1 {
        circumstances.recorded = recorded.run
        circumstances.rerun =
          settlesDoubts
          ? plan.randomSettlement(of: recorded.run, isLast: isLast, &random)
          : plan.randomRerun(of: recorded.run, isLast: isLast, &random)
        accepted.formUnion(circumstances.rerun.accepted)
        excluded = plan.stepsExcluded(Set(excluded), except: circumstances.rerun.steps)
        circumstances.excluded = excluded
      }
      let endings = settlesDoubts ? Ending.killed : Ending.allCases
      let ending = endings.randomElement(using: &random)!
      if isLast {
        circumstances.failures = 0
        (circumstances.isQuick, circumstances.approvesAll) = (true, true)
        circumstances.interruptions = []
      } else {
        circumstances.failures = [0, 8, 20, 45].randomElement(using: &random)!
        circumstances.meet(ending, &random)
      }
      guard let simulation = Simulation(seed: seed, made, prefix: prefix, in: circumstances) else {
        return nil
      }
      let isCut = ending == .engineKilled && !isLast
      let count = isCut ? simulation.randomCut(inAttempt: settlesDoubts, &random) : .max
      let records = simulation.records.prefix(count)
      // The events that subscribers received before the first missing record.
      let heard =
        records.count < simulation.records.count
        ? simulation.records[records.count].eventsBefore : .max
      let events = Array(simulation.events.prefix(heard))
      recorded.append(
        records.map(\.kind), rerunning: circumstances.rerun.addresses(in: plan),
        visiting: { again.apply($0) })
      if !isCut {
        let views = ViewChecker(simulation, recorded.run, again.report, accepted: accepted)
        disagreements += views.violations.map { "part \(number): \($0)" }
      }
      parts.append(
        RunPart(
          events: events, attempts: simulation.attempts, leaks: isCut ? [] : simulation.leaks,
          end: isCut ? nil : simulation.report.end,
          rerunSteps: Set(circumstances.rerun.steps.map { plan.steps[$0].address.text }),
          rerunAddresses: circumstances.rerun.addresses, accepted: circumstances.rerun.accepted,
          interrupted: Set(
            circumstances.recorded.map { circumstances.rerun.interrupted(of: $0, in: plan) } ?? []),
          inDoubt: Set(circumstances.recorded?.inDoubt ?? [])
            .subtracting(circumstances.rerun.addresses)))
      // A run that has succeeded is not resumed.
      if !isCut, simulation.report.end?.outcome == .success { break }
    }
  }
}

extension SequencedRun {
  /// Prints the run for debugging.
  func report() { made.report(parts) }
}

extension Simulation {
  /// The number of records after which the engine is killed.
  ///
  /// - Parameter isInAttempt: Whether that is at the start of an attempt, if there is one.
  fileprivate func randomCut(
    inAttempt isInAttempt: Bool, _ random: inout SeededGenerator
  ) -> Int {
    let starts = records.indices.filter { index in
      if case .event(.stepStarted, _) = records[index].kind { true } else { false }
    }
    if isInAttempt, let start = starts.randomElement(using: &random) { return start + 1 }
    return Int.random(in: 1...records.count, using: &random)
  }
}

extension Simulation.Circumstances {
  fileprivate mutating func meet(
    _ ending: SequencedRun.Ending, _ random: inout SeededGenerator
  ) {
    let moment = Duration.seconds(Int.random(in: 0...15, using: &random))
    switch ending {
    case .ownEnd, .engineKilled: interruptions = []
    case .cancelled: interruptions = [.init(moment: moment, kills: false)]
    case .killedAtOnce: interruptions = [.init(moment: moment, kills: true)]
    case .suspended: (interruptions, inbox) = ([], MemoryInbox())
    }
  }
}

extension Plan {
  /// The steps that `--only` or `--skip` of a step or group would skip.
  fileprivate func randomChoice(_ random: inout SeededGenerator) -> [Int]? {
    guard let name = steps.randomElement(using: &random)?.address.text else { return nil }
    let choice =
      Bool.random(using: &random) ? StepChoice(only: [name]) : StepChoice(skip: [name])
    return try? stepsExcluded(by: choice)
  }

  /// The answer to the steps in doubt: `--rerun-interrupted`, `--skip-interrupted` or, but for the last part, neither.
  fileprivate func randomSettlement(
    of recorded: RunState, isLast: Bool, _ random: inout SeededGenerator
  ) -> RerunSelection {
    var rerun = RerunSelection()
    let interrupted = rerun.interrupted(of: recorded, in: self)
    switch Int.random(in: isLast ? 1..<3 : 0..<3, using: &random) {
    case 1: rerun.addresses.formUnion(interrupted)
    case 2: rerun.accepted.formUnion(interrupted)
    default: break
    }
    return rerun
  }

  /// The steps that `--rerun`, `--from` and `--rerun-interrupted` would name; for the last part, always everything
  /// that is in doubt.
  fileprivate func randomRerun(
    of recorded: RunState, isLast: Bool, _ random: inout SeededGenerator
  ) -> RerunSelection {
    var rerun = RerunSelection()
    if isLast || Bool.random(using: &random) {
      rerun.addresses.formUnion(recorded.inDoubt)
      // What succeeded, and has to run again for a value that is not recorded.
      let policy = ResumePolicy(plan: self, recorded: recorded, rerunning: rerun)
      rerun.addresses.formUnion(policy.missing.addresses)
    }
    guard !isLast, let name = steps.randomElement(using: &random)?.address.text else {
      return rerun
    }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: rerun.steps.formUnion((try? stepsExcluded(by: StepChoice(skip: [name]))) ?? [])
    case 1:
      guard let others = try? stepsExcluded(by: StepChoice(from: [name])) else { break }
      rerun.steps.formUnion(Set(steps.indices).subtracting(others))
    case 2:
      let elements = recorded.steps.addresses.filter { $0.text.contains("[") }.sorted {
        $0.text < $1.text
      }
      if let element = elements.randomElement(using: &random) { rerun.addresses.insert(element) }
    default: break
    }
    return rerun
  }
}
