import WeftDefinition
import WeftTestKit

/// Makes workflows that a seed describes: groups in groups, all orders, needs across groups, tolerances,
/// limits, expressions. Needs and references only point to what stands earlier in the file, so there are no
/// cycles.
struct RandomWorkflow {
  private var random: SeededGenerator
  private var names: [String] = []
  private var stepsLeft: Int

  static func make(seed: UInt64) -> Workflow {
    var maker = RandomWorkflow(seed: seed)
    return maker.workflow()
  }

  private init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    stepsLeft = Int.random(in: 0...25, using: &random)
  }

  private mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &random) < percent
  }

  private mutating func workflow() -> Workflow {
    var workflow = Workflow(
      body: group(depth: 0, ancestors: []),
      onFailure: FailureResponse.allCases.randomElement(using: &random)!)
    if chance(10) { workflow.timeout = duration() }
    return workflow
  }

  private mutating func duration() -> Duration { .seconds(Int.random(in: 1...20, using: &random)) }

  private mutating func group(depth: Int, ancestors: Set<String>) -> StepGroup {
    var members: [Step] = []
    let count = Int.random(in: 0...(depth == 0 ? 10 : 5), using: &random)
    for _ in 0..<count where stepsLeft > 0 {
      stepsLeft -= 1
      members.append(step(depth: depth, ancestors: ancestors))
    }
    let limit = depth > 0 && chance(25) ? Int.random(in: 1...3, using: &random) : nil
    return StepGroup(chance(50) ? .steps : .parallel, members, maxParallel: limit)
  }

  private mutating func step(depth: Int, ancestors: Set<String>) -> Step {
    let name = "s\(stepsLeft)"
    let needs = needs(notAmong: ancestors)
    let settings = CommandSettings(environment: readings(notAmong: ancestors))
    let isGroup = depth < 4 && chance(30)
    let action: StepAction =
      isGroup
      ? .group(group(depth: depth + 1, ancestors: ancestors.union([name])))
      : .run(Command(.program(["true"])))
    names.append(name)
    return Step(
      id: StepID(name), action: action, needs: needs, settings: settings,
      timeout: isGroup && chance(25) ? duration() : nil, allowFailure: tolerance())
  }

  /// Names of what is finished being written: neither an ancestor nor a descendant.
  private mutating func needs(notAmong ancestors: Set<String>) -> [Need]? {
    guard chance(35) else { return nil }
    let candidates = names.filter { !ancestors.contains($0) }
    let count = min(candidates.count, Int.random(in: 0...3, using: &random))
    return candidates.shuffled(using: &random).prefix(count).map { Need($0) }
  }

  /// Variables that tell how earlier steps and groups have ended, each named after the one that it reads.
  private mutating func readings(notAmong ancestors: Set<String>) -> [String: String?] {
    guard chance(25) else { return [:] }
    let candidates = names.filter { !ancestors.contains($0) }
    let count = min(candidates.count, Int.random(in: 1...2, using: &random))
    let read = candidates.shuffled(using: &random).prefix(count)
    return Dictionary(
      uniqueKeysWithValues: read.map {
        ($0, "${{ steps.\($0).outcome }} as ${{ steps.\($0).conclusion }}")
      })
  }

  private mutating func tolerance() -> FailureTolerance {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: .all
    case 1: .classes([.exit(1)])
    case 2: .classes([.timeout, .signal])
    default: .none
    }
  }
}
