import WeftDefinition
import WeftTestKit

/// Computes keys of steps in a random workflow from the outcomes of other steps: time limits, retries and their delays,
/// restarts of services, tolerated failures, and waits. Some of these values cannot be computed.
struct ComputedAdder: WorkflowAdder {
  static let salt: UInt64 = 0xC0DE
  static let densities = [0, 0, 15, 45]

  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int

  mutating func added(to step: Step) -> Step {
    guard let id = step.id?.text else { return step }
    var step = step
    switch step.action {
    case .group(var group):
      group.members = added(to: group.members)
      step.action = .group(group)
    case .run where step.service != nil: addRestarts(to: &step, id)
    case .run:
      addLimit(to: &step, id)
      addRetries(to: &step, id)
      addTolerance(to: &step, id)
    case .approve:
      addLimit(to: &step, id)
      addTolerance(to: &step, id)
    case .wait:
      guard chance(), let source = source(for: id) else { break }
      made.waits[id] = RandomLimit(source: source)
      step.action = .wait(.computedDuration(Condition(made.waits[id]!.text)))
    case .compute, .workflow, .use, .http: break
    }
    return step
  }

  private mutating func addLimit(to step: inout Step, _ id: String) {
    guard made.limits[id] == nil, chance(), let source = source(for: id) else { return }
    made.limits[id] = RandomLimit(source: source, error: error(for: id))
    step.$timeout = .computed(Condition(made.limits[id]!.text), until: nil)
  }

  private mutating func addTolerance(to step: inout Step, _ id: String) {
    guard chance(), let source = source(for: id) else { return }
    made.tolerances[id] = source
    step.$allowFailure = .computed(
      Condition("${{ steps.\(source).outcome == 'success' }}"), until: .none)
  }

  private mutating func addRetries(to step: inout Step, _ id: String) {
    guard step.control.retry.count < 2, chance(), let source = source(for: id) else { return }
    var computed = RandomRetries(
      source: source, ifSucceeded: policy(like: step.control.retry.first),
      otherwise: policy(like: step.control.retry.first), error: error(for: id))
    // Both have what no expression gives.
    computed.otherwise.factor = computed.ifSucceeded.factor
    computed.otherwise.jitter = computed.ifSucceeded.jitter
    made.retries[id] = computed
    step.control.retry = [computed.policy]
  }

  private mutating func policy(like known: RetryPolicy?) -> RetryPolicy {
    RetryPolicy(
      max: number(0..<4), delay: .milliseconds(number(0..<5) * 500),
      factor: known?.factor ?? 2, maxDelay: .seconds(number(2..<9)),
      jitter: known?.jitter ?? .none, within: .seconds(number(1..<31)), classes: known?.classes,
      condition: known?.condition)
  }

  private mutating func addRestarts(to step: inout Step, _ id: String) {
    guard number(0..<3) > 0, let source = source(for: id) else { return }
    let computed = RandomRestarts(
      source: source, ifSucceeded: number(0..<3), otherwise: number(0..<3))
    made.restarts[id] = computed
    guard case .run(var command) = step.action else { return }
    command.service?.$restarts = .computed(Condition(computed.text), until: 0)
    command.service?.$timeout = .computed(
      Condition(computed.limit.text), until: Command.Service.timeout)
    step.action = .run(command)
  }

  private mutating func source(for id: String) -> String? {
    guard let source = made.visible[id]?.randomElement(using: &random) else { return nil }
    made.readings[id, default: []].insert(source)
    return source
  }

  private mutating func error(for id: String) -> RandomError? {
    guard number(0..<6) == 0, let source = source(for: id) else { return nil }
    let outcome = ["success", "failure", "cancelled", "skipped"].randomElement(using: &random)!
    return RandomError(source: source, outcome: outcome)
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
}

/// A retry policy that depends on how another step ended.
struct RandomRetries: Hashable {
  let source: String
  var ifSucceeded: RetryPolicy
  var otherwise: RetryPolicy
  let error: RandomError?

  /// The policy as it is written.
  var policy: RetryPolicy {
    var policy = ifSucceeded
    policy.$max = .computed(text(of: { "\($0.max)" }), until: 0)
    policy.$delay = .computed(
      text(of: { RandomRetries.json($0.delay) }), until: .seconds(1))
    policy.$maxDelay = .computed(
      text(of: { RandomRetries.json($0.maxDelay) }), until: RetryPolicy.defaultMaxDelay)
    policy.$within = .computed(text(of: { RandomRetries.json($0.within!) }), until: nil)
    return policy
  }

  private static func json(_ duration: Duration) -> String {
    "\"\(Int(duration / .milliseconds(1)))ms\""
  }

  private func text(of value: (RetryPolicy) -> String) -> Condition {
    let chosen =
      "steps.\(source).outcome == 'success' && '\(value(ifSucceeded))' || '\(value(otherwise))'"
    return Condition("${{ \(RandomError.text(choosing: chosen, error)) }}")
  }
}

/// The restarts of a service, and the time that it has to get ready, by how another step ended.
struct RandomRestarts: Hashable {
  let source: String
  let ifSucceeded: Int
  let otherwise: Int

  var text: String {
    "${{ steps.\(source).outcome == 'success' && \(ifSucceeded) || \(otherwise) }}"
  }
  var limit: RandomLimit { RandomLimit(source: source) }
}
