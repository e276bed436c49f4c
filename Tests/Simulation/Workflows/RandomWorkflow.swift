import WeftDefinition
import WeftTestKit

/// A random workflow, with what the checkers need to know besides its model.
struct RandomWorkflow {
  var workflow: Workflow
  /// The conditions, by the id of the step or group.
  var conditions: [String: RandomCondition] = [:]
  /// The steps that the expressions of a step or group read, besides its condition.
  var readings: [String: Set<String>] = [:]
  /// The names that a step or group could use when it was made.
  var visible: [String: [String]] = [:]
  /// The lists of loops, by the id of the loop.
  var lists: [String: RandomList] = [:]
  /// The retry conditions, by the step and the index of the policy.
  var retryConditions: [String: [Int: RandomRetryCondition]] = [:]
  /// The time limits of attempts, by the step.
  var limits: [String: RandomLimit] = [:]
  /// The errors of the keys, limits and axes of loops, by the id of the loop.
  var loopErrors: [String: RandomError] = [:]
  /// The matrices with axes that may be errors, as they are if they are not.
  var matrices: [String: Matrix] = [:]
  /// The errors of the variables of steps.
  var variableErrors: [String: RandomError] = [:]
  /// The retry policies that depend on other steps.
  var retries: [String: RandomRetries] = [:]
  /// The restarts of services that depend on other steps.
  var restarts: [String: RandomRestarts] = [:]
  /// The steps whose failures are tolerated if another step, this one, succeeds.
  var tolerances: [String: String] = [:]
  /// The lengths of waits that depend on other steps.
  var waits: [String: RandomLimit] = [:]
  /// The errors of the outputs of steps, groups and elements.
  var outputErrors: [String: RandomError] = [:]
  /// The machine whose resources steps request; `nil` if none does.
  var machine: RandomMachine?
  /// The resources that steps request.
  var requests: [String: RandomRequests] = [:]
  /// The members whose secrets are also those of their groups, by the group.
  var secretMembers: [String: String] = [:]

  /// The features that workflows may use.
  enum Vocabulary {
    /// Steps, groups and control flow: for the seeds with names.
    case control
    /// Also features that depend on values: for the seeds with names that resume runs.
    case values
    /// Also services: for the seeds with names.
    case services
    /// Also values that cannot be computed: for the seeds with names.
    case errors
    /// Also resources of the machine, and keys that are computed: for the seeds with names.
    case computed
    /// Also outputs that cannot be computed.
    case all
    /// Also more races and joins, with approvals and waits in them.
    case races
    /// Services and secret outputs.
    case secrets
    /// Everything of `all`, and commands that say what follows if they are interrupted.
    case interruptions
  }

  static func make(seed: UInt64, _ vocabulary: Vocabulary) -> RandomWorkflow {
    var maker = WorkflowMaker(seed: seed)
    var made = maker.make()
    if vocabulary == .control { return made }
    if vocabulary == .races { made = RaceAdder.add(to: made, seed: seed) }
    let valued = ValueAdder.add(to: made, seed: seed)
    if vocabulary == .values { return valued }
    let served = ServiceAdder.add(to: valued, seed: seed)
    if vocabulary == .services { return served }
    if vocabulary == .secrets { return SecretAdder.add(to: served, seed: seed) }
    let failing = ErrorAdder.add(to: served, seed: seed)
    if vocabulary == .errors { return failing }
    let requesting = ResourceAdder.add(to: failing, seed: seed)
    let computed = ComputedAdder.add(to: requesting, seed: seed)
    if vocabulary == .computed { return computed }
    let complete = OutputAdder.add(to: computed, seed: seed)
    return vocabulary == .interruptions
      ? InterruptionAdder.add(to: complete, seed: seed) : complete
  }

  /// The errors by which each attempt of a step fails at its start.
  func attemptErrors(of id: String) -> [RandomError] {
    [variableErrors[id], limits[id]?.error, retries[id]?.error].compactMap { $0 }
  }
}

/// Makes workflows: nested groups of every order, with all the options of control flow. Needs and references only
/// point to earlier steps of the file, so there are no cycles.
struct WorkflowMaker {
  /// The surroundings of the step that is being made.
  struct Surroundings {
    var depth = 0
    /// The enclosing groups, by id.
    var ancestors: Set<String> = []
    /// Those whose members cannot be named from outside, the outermost first.
    var sealed: [String] = []
    var isInLoop = false
    var isFinal = false
    /// The number of instances of each step made here.
    var copies = 1
  }

  /// A name that can be used, and the sealed groups around it.
  struct Name {
    var id: String
    var sealed: [String]
  }

  var random: SeededGenerator
  var made: RandomWorkflow
  var names: [Name] = []
  var stepsLeft: Int
  private var nextName = 0
  var pools: [Pool] = []
  /// The percentage of each feature: some workflows have much of it, some nothing.
  var density: Int

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    stepsLeft = Int.random(in: 2...22, using: &random)
    density = [6, 12, 20, 30].randomElement(using: &random)!
    made = RandomWorkflow(workflow: Workflow(steps: []))
  }

  mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  mutating func duration() -> Duration { .seconds(number(1...20)) }

  mutating func newID() -> String {
    defer { nextName += 1 }
    return "s\(nextName)"
  }

  mutating func make() -> RandomWorkflow {
    makePools()
    var workflow = Workflow(
      body: group(in: Surroundings(), of: [.steps, .parallel].randomElement(using: &random)!),
      onFailure: FailureResponse.allCases.randomElement(using: &random)!)
    if chance(10) { workflow.timeout = .seconds(number(5...60)) }
    if chance(35) {
      stepsLeft = max(stepsLeft, number(1...4))
      var around = Surroundings()
      (around.isFinal, around.depth) = (true, 2)
      around.ancestors = ["finally"]
      workflow.finally = group(in: around, of: .steps).members
    }
    workflow.pools = pools
    made.workflow = workflow
    return made
  }

  private mutating func makePools() {
    guard chance(45) else { return }
    pools = (0..<number(1...3)).map { index in
      let slots = number(1...4)
      let rate = chance(35) ? Rate(count: number(slots...6), per: .seconds(number(2...15))) : nil
      return Pool("p\(index)", slots: slots, rate: rate)
    }
  }

  /// A group with at least one member.
  mutating func group(in around: Surroundings, of order: StepGroup.Order) -> StepGroup {
    var members: [Step] = []
    let count = number((order == .race ? 2 : 1)...(around.depth == 0 ? 9 : 4))
    while members.count < count, stepsLeft > 0 || members.count < (order == .race ? 2 : 1) {
      stepsLeft -= 1
      members.append(step(in: around))
    }
    let limit = around.depth > 0 && chance(density) ? number(1...3) : nil
    var join = StepGroup.Join.all
    if order == .parallel, around.depth > 0, members.count > 1, chance(density) {
      join = .atLeast(number(1...members.count))
    }
    return StepGroup(order, members, maxParallel: limit, join: join)
  }

  private mutating func step(in around: Surroundings) -> Step {
    let id = newID()
    made.visible[id] = candidates(in: around)
    let isGroup = around.depth < 4 && stepsLeft > 0 && chance(32)
    var step = Step(id: StepID(id), action: .run(Command(.program(["true"]))))
    step.needs = needs(in: around)
    addLoop(to: &step, id, isGroup: isGroup, in: around)
    addCondition(to: &step, id, in: around)
    step.allowFailure = tolerance()
    if isGroup {
      addGroup(to: &step, id, in: around)
    } else if chance(density / 2) {
      step.action = .wait(.duration(.seconds(number(0...12))))
      step.allowFailure = .none
    } else {
      addCommand(to: &step, id, in: around)
    }
    addCleanup(to: &step, id)
    names.append(Name(id: id, sealed: around.sealed))
    return step
  }

  private mutating func addCommand(to step: inout Step, _ id: String, in around: Surroundings) {
    step.settings.environment = environment(of: id, in: around)
    if chance(density) { step.timeout = duration() }
    if chance(density) { step.control.retry = policies() }
    guard !pools.isEmpty, chance(50) else { return }
    let wanted = pools.shuffled(using: &random).prefix(number(1...pools.count))
    step.control.pools = wanted.map { PoolRequest($0.name, slots: number(1...$0.slots)) }
  }

  private mutating func addGroup(to step: inout Step, _ id: String, in around: Surroundings) {
    if chance(density) { step.control.retry = policies() }
    if chance(density) { step.timeout = duration() }
    var inside = around
    inside.depth += 1
    inside.ancestors.insert(id)
    var order = [StepGroup.Order.steps, .parallel].randomElement(using: &random)!
    if chance(density) { order = .race }
    // Whether it is joined early is not known yet; naming fewer steps than possible is always valid.
    let isSealed =
      order != .steps || step.control.fanOut != nil || !step.control.retry.isEmpty
    if isSealed { inside.sealed.append(id) }
    if let fanOut = step.control.fanOut {
      if case .forEach = fanOut { inside.isInLoop = true }
      inside.copies *= 4
    }
    step.action = .group(group(in: inside, of: order))
    if case .group(let group) = step.action, order == .parallel, group.join == .all,
      step.control.fanOut == nil, step.control.retry.isEmpty
    {
      unseal(id)
    }
  }

  /// Makes the members of the group available from outside again.
  private mutating func unseal(_ id: String) {
    for index in names.indices { names[index].sealed.removeAll { $0 == id } }
  }

  // MARK: Dependencies

  /// The names of completed steps that are visible from here.
  func candidates(in around: Surroundings) -> [String] {
    names.filter { name in
      !around.ancestors.contains(name.id) && around.sealed.starts(with: name.sealed)
    }.map(\.id)
  }

  private mutating func needs(in around: Surroundings) -> [Need]? {
    guard chance(30) else { return nil }
    let candidates = candidates(in: around)
    let count = min(candidates.count, number(0...3))
    return candidates.shuffled(using: &random).prefix(count).map { Need($0) }
  }

  /// Variables with the outcomes of earlier steps and groups, each named after the one that it reads.
  private mutating func environment(of id: String, in around: Surroundings) -> [String: String?] {
    guard chance(20) else { return [:] }
    let read = candidates(in: around).shuffled(using: &random).prefix(number(1...2))
    made.readings[id, default: []].formUnion(read)
    return Dictionary(
      uniqueKeysWithValues: read.map {
        ($0, "${{ steps.\($0).outcome }} as ${{ steps.\($0).conclusion }}")
      })
  }
}
