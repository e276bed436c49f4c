import WeftDefinition
import WeftEvents
import WeftExecution
import WeftJSON

/// The features that can meet in one run; each pair of them has to, often enough.
enum Feature: String, CaseIterable {
  case condition, statusFunction, retry, retriedGroup, wait, race, join, forEach, matrix, noElements
  case tolerance, elementLimit, pool, rate, stepTimeout, groupTimeout, runTimeout, allowFailure
  case finally, cleanup, onFailureCancel, onFailureContinue, nestedGroup, crossNeeds, groupLimit
  case readValues, cancellation, kill
  case computedList, elementKey, results, matrixRules, retryCondition, computedLimit, approval
  case service, serviceRestart
  case computedRetry, computedRestart, computedTolerance, computedWait, failingKey, failingOutput
  case failingOutputOfGroup
  case resources, computedResources, excessiveRequest
  case failingCondition, failingLoop, failingVariable, failingRetryCondition

  /// The pairs that exclude each other.
  static let exclusive: Set<Set<Feature>> = [[.onFailureCancel, .onFailureContinue]]

  static func all(of simulation: Simulation) -> Set<Feature> {
    var finder = FeatureFinder()
    finder.inspect(at: simulation.made)
    if !simulation.interruptions.isEmpty { finder.found.insert(.cancellation) }
    if simulation.interruptions.contains(where: \.kills) { finder.found.insert(.kill) }
    return finder.found
  }
}

private struct FeatureFinder {
  var found: Set<Feature> = []

  mutating func inspect(at made: RandomWorkflow) {
    let workflow = made.workflow
    if workflow.timeout != nil { found.insert(.runTimeout) }
    if !workflow.finally.isEmpty { found.insert(.finally) }
    switch workflow.onFailure {
    case .stop: break
    case .cancel: found.insert(.onFailureCancel)
    case .continue: found.insert(.onFailureContinue)
    }
    for condition in made.conditions.values where !condition.statuses.isEmpty {
      found.insert(.statusFunction)
    }
    note(.failingCondition, if: made.conditions.values.contains(where: \.mayFail))
    note(
      .failingLoop,
      if: !made.loopErrors.isEmpty || made.lists.values.contains { $0.error != nil })
    note(.failingVariable, if: !made.variableErrors.isEmpty)
    let retryConditions = made.retryConditions.values.flatMap(\.values)
    note(
      .failingRetryCondition,
      if: retryConditions.contains { if case .error = $0 { true } else { false } })
    note(.computedRetry, if: !made.retries.isEmpty)
    note(.computedRestart, if: !made.restarts.isEmpty)
    note(.computedTolerance, if: !made.tolerances.isEmpty)
    note(.computedWait, if: !made.waits.isEmpty)
    let errors = made.limits.values.map(\.error) + made.retries.values.map(\.error)
    note(.failingKey, if: errors.contains { $0 != nil })
    let amounts = made.requests.values.flatMap { [$0.cpus, $0.mebibytes] }.compactMap { $0 }
    note(.resources, if: !amounts.isEmpty)
    note(.computedResources, if: amounts.contains { $0.source != nil })
    note(.excessiveRequest, if: made.machine.map { made.mayExceed($0) } ?? false)
    let rated = Set(workflow.pools.filter { $0.rate != nil }.map(\.name))
    for step in workflow.body.members + workflow.finally { inspect(at: step, rated, depth: 0) }
  }

  private mutating func note(_ feature: Feature, if isThere: Bool) {
    if isThere { found.insert(feature) }
  }

  private mutating func inspect(at step: Step, _ rated: Set<String>, depth: Int) {
    let control = step.control
    note(.condition, if: control.condition != nil)
    note(.pool, if: !control.pools.isEmpty)
    note(.rate, if: control.pools.contains { rated.contains($0.pool) })
    note(.allowFailure, if: step.allowFailure != .none)
    note(.cleanup, if: !control.cleanup.isEmpty)
    note(.crossNeeds, if: depth > 0 && step.needs?.isEmpty == false)
    let read = step.settings.environment.keys
    note(
      .readValues, if: read.contains { !$0.hasPrefix("results_") && $0 != RandomError.variable })
    note(.results, if: read.contains { $0.hasPrefix("results_") })
    note(.retryCondition, if: control.retry.contains { $0.condition != nil })
    note(.computedLimit, if: !step.computed.isEmpty)
    if case .approve = step.action { found.insert(.approval) }
    note(.service, if: step.service != nil)
    note(.serviceRestart, if: step.service.map { $0.restarts > 0 } ?? false)
    inspect(at: control.fanOut)
    let hasOutputError = step.outputs.contains { $0.name == RandomError.output }
    note(.failingOutput, if: hasOutputError)
    guard case .group(let group) = step.action else {
      note(.retry, if: !control.retry.isEmpty)
      note(.stepTimeout, if: step.timeout != nil)
      if case .wait = step.action { found.insert(.wait) }
      return
    }
    note(.failingOutputOfGroup, if: hasOutputError)
    note(.retriedGroup, if: !control.retry.isEmpty)
    note(.groupTimeout, if: step.timeout != nil)
    note(.race, if: group.order == .race)
    note(.join, if: group.join != .all)
    note(.nestedGroup, if: depth > 0)
    note(.groupLimit, if: group.maxParallel != nil)
    for member in group.members { inspect(at: member, rated, depth: depth + 1) }
  }

  private mutating func inspect(at fanOut: FanOut?) {
    switch fanOut {
    case .forEach(let forEach):
      found.insert(.forEach)
      note(.tolerance, if: forEach.tolerance != .count(0))
      note(.elementLimit, if: forEach.maxParallel != nil)
      note(.elementKey, if: forEach.key != nil)
      if case .computed = forEach.elements { found.insert(.computedList) }
      guard case .values(let listed) = forEach.elements else { return }
      if case .array(let elements) = listed { note(.noElements, if: elements.isEmpty) }
      if case .object(let elements) = listed { note(.noElements, if: elements.isEmpty) }
    case .matrix(let matrix):
      found.insert(.matrix)
      note(.matrixRules, if: matrix.include != nil || matrix.exclude != nil)
    case nil: break
    }
  }
}

extension RandomWorkflow {
  /// Whether a step may request more than the machine has.
  fileprivate func mayExceed(_ machine: RandomMachine) -> Bool {
    requests.values.contains { requests in
      [(requests.cpus, machine.cpus), (requests.mebibytes, machine.mebibytes)].contains {
        amount, most in amount.map { max($0.ifSucceeded, $0.otherwise) > most } ?? false
      }
    }
  }
}

/// The number of workflows in which each pair of features has met.
struct FeaturePairs {
  private var counts: [Set<Feature>: Int] = [:]

  mutating func add(_ features: Set<Feature>) {
    let features = Feature.allCases.filter(features.contains)
    for (index, feature) in features.enumerated() {
      for other in features[index...] { counts[[feature, other], default: 0] += 1 }
    }
  }

  /// Each pair and its count, the rarest first.
  var rarest: [(pair: String, count: Int)] {
    var pairs: [(pair: String, count: Int)] = []
    for (index, feature) in Feature.allCases.enumerated() {
      for other in Feature.allCases[index...] where !Feature.exclusive.contains([feature, other]) {
        pairs.append(("\(feature)+\(other)", counts[[feature, other]] ?? 0))
      }
    }
    return pairs.sorted { ($0.count, $0.pair) < ($1.count, $1.pair) }
  }
}
