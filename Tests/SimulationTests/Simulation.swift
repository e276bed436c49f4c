import WeftDefinition
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftTestKit

/// One run that a seed describes: its workflow, how many slots, in what order and how steps end, when
/// time passes, when somebody cancels.
struct Simulation {
  let plan: Plan
  let maxParallel: Int
  let events: [RunEvent]
  let report: RunReport
  /// The most attempts that ran at once, in the run and in each limited group.
  let peak: Int
  /// What the variables of each step that ran were, with those of the groups around it.
  let variables: [StepAddress: [(name: String, value: String?)]]

  init(seed: UInt64) {
    let (plan, diagnostics) = Planner.plan(RandomWorkflow.make(seed: seed))
    guard let plan else { preconditionFailure("seed \(seed): \(diagnostics)") }
    self.plan = plan
    var random = SeededGenerator(seed: seed ^ 0x5EED)
    maxParallel = Int.random(in: 1...5, using: &random)
    let executor = ScriptedExecutor()
    let time = ManualTime()
    var configuration = EngineConfiguration()
    configuration.maxParallel = maxParallel
    var subscription: EventSubscription?
    let run = LiveRun.start(plan, configuration: configuration, executor: executor, time: time) {
      subscription = $0.subscribe()
    }
    var peak = 0
    var variables: [StepAddress: [(name: String, value: String?)]] = [:]
    while !run.completion.isSettled {
      let attempts = executor.attempts
      peak = max(peak, attempts.count)
      for attempt in attempts where variables[attempt.step.address] == nil {
        let layers = [attempt.resolved.environment] + attempt.resolved.groupEnvironments.values
        variables[attempt.step.address] = layers.flatMap { $0.map { (name: $0, value: $1) } }
      }
      Simulation.checkLimits(attempts.map(\.step), in: plan, seed: seed)
      guard let attempt = attempts.randomElement(using: &random) else {
        preconditionFailure("seed \(seed): nothing runs, and the run does not end")
      }
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<15: time.advance(by: .seconds(Int.random(in: 1...5, using: &random)))
      case 15..<17: run.cancel(.requested)
      case 17: run.killNow()
      default:
        let isStopping = executor.isStopping(attempt.step.address.text)
        executor.end(
          attempt.step.address.text, Simulation.ending(isStopping: isStopping, &random))
      }
    }
    self.peak = peak
    self.variables = variables
    events = subscription!.takeAll() ?? []
    report = run.report
  }

  private static func ending(
    isStopping: Bool, _ random: inout SeededGenerator
  ) -> AttemptEnd.Status {
    if isStopping, Int.random(in: 0..<4, using: &random) > 0 { return .stopped(.signal("TERM")) }
    return switch Int.random(in: 0..<20, using: &random) {
    case 0: .ended(.code(1))
    case 1: .ended(.code(2))
    case 2: .ended(.signal("SEGV"))
    case 3: .timedOut(after: .seconds(1), .signal("TERM"))
    default: .ended(.code(0))
    }
  }

  private static func checkLimits(_ running: [PlannedStep], in plan: Plan, seed: UInt64) {
    for (index, group) in plan.groups.enumerated() {
      guard let limit = group.maxParallel else { continue }
      let inside = running.count { plan.enclosingGroups(ofGroup: $0.group).contains(index) }
      precondition(inside <= limit, "seed \(seed): \(inside) run in a group of \(limit)")
    }
  }
}
