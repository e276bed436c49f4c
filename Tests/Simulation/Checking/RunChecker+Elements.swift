import WeftDefinition
import WeftEvents
import WeftExecution
import WeftJSON

/// The elements of a loop, and the values read from them.
extension RunChecker {
  /// The keys of a loop's elements, in order.
  func keys(of loop: Subject) -> [String] {
    switch blueprint.member(loop.id).step.control.fanOut {
    case .forEach(let forEach): keys(of: forEach, loop)
    case .matrix(let matrix): MatrixRules(blueprint.made.matrices[loop.id] ?? matrix).keys
    case nil: []
    }
  }

  private func keys(of forEach: ForEach, _ loop: Subject) -> [String] {
    var (keys, values): ([String], [String])
    switch forEach.elements {
    case .values(.array(let elements)):
      (keys, values) = (elements.indices.map(String.init), elements.map(RunChecker.text))
    case .values(.object(let object)):
      (keys, values) = (object.members.map(\.key), object.members.map { RunChecker.text($0.value) })
    case .values: return []
    case .computed:
      values = computedElements(of: loop)
      keys = values.indices.map(String.init)
    }
    return forEach.key == nil ? keys : values.map(RandomList.key(of:))
  }

  private func computedElements(of loop: Subject) -> [String] {
    guard let list = blueprint.made.lists[loop.id] else { return [] }
    return isFound(list, from: loop) ? RandomList.found : list.otherwise
  }

  /// Whether a list is the output of another step.
  func isFound(_ list: RandomList?, from loop: Subject) -> Bool {
    guard let source = list?.source.map({ blueprint.subject($0, from: loop) }) else { return false }
    // A service keeps the outputs that it had when it was ready.
    return state(source).hasBeenReady || result(source)?.outcome == .success
  }

  private static func text(_ value: JSONValue) -> String {
    if case .string(let text) = value { text } else { "" }
  }

  /// The index of the innermost `forEach` element that encloses a spot.
  func index(at subject: Subject) -> Int? {
    let member = blueprint.member(subject.id)
    for (depth, loop) in member.loops.enumerated().reversed()
    where depth < subject.keys.count && blueprint.isForEach(loop) {
      let whole = Subject(id: loop, keys: Array(subject.keys.prefix(depth)))
      return keys(of: whole).firstIndex(of: subject.keys[depth])
    }
    return nil
  }

  /// The results of a loop as a step reads them: those of the elements that have ended, in order.
  func results(of loop: Subject) -> String {
    let ended = keys(of: loop).compactMap { key in
      result(Subject(id: loop.id, keys: loop.keys + [key])).map { (key, $0.outcome.rawValue) }
    }
    let keys = ended.map(\.0).joined(separator: "|")
    return "\(keys): \(ended.map(\.1).joined(separator: "|"))"
  }

  /// The resources that an attempt requests, by their pools.
  func resources(of subject: Subject) -> [String: Int] {
    guard let requests = blueprint.made.requests[subject.id] else { return [:] }
    let value = { (amount: RandomAmount) in
      let succeeded = amount.source.map { self.hasSucceeded($0, from: subject) } ?? true
      return succeeded ? amount.ifSucceeded : amount.otherwise
    }
    return [
      CountedResource.cpus.pool: requests.cpus.map(value) ?? 0,
      CountedResource.memory.pool: (requests.mebibytes.map(value) ?? 0) * RandomMachine.mebibyte,
    ]
  }

  /// The time limit of an attempt.
  func timeLimit(of subject: Subject) -> Duration? {
    guard let limit = blueprint.made.limits[subject.id] else {
      let limit = blueprint.member(subject.id).step.timeout
      return limit ?? (isCleanup(subject) ? WorkflowLimits.cleanupTimeout : nil)
    }
    return value(of: limit, at: subject)
  }

  func value(of limit: RandomLimit, at subject: Subject) -> Duration {
    hasSucceeded(limit.source, from: subject) ? limit.ifSucceeded : limit.otherwise
  }

  /// The policies by which an attempt that has failed is followed by another.
  func policies(of subject: Subject) -> [RetryPolicy] {
    let (made, member) = (blueprint.made, blueprint.member(subject.id))
    if let retries = made.retries[subject.id] {
      return [
        hasSucceeded(retries.source, from: subject) ? retries.ifSucceeded : retries.otherwise
      ]
    }
    guard let service = member.step.service else { return member.step.control.retry }
    var restarts = service.restarts
    if let computed = made.restarts[subject.id] {
      let succeeded = hasSucceeded(computed.source, from: subject)
      restarts = succeeded ? computed.ifSucceeded : computed.otherwise
    }
    return restarts == 0
      ? [] : [RetryPolicy(max: restarts, jitter: .none, classes: [.service])]
  }

  /// The longest time from the start of a service until it is ready.
  func timeToGetReady(of service: Subject) -> Duration? {
    if let computed = blueprint.made.restarts[service.id] {
      return value(of: computed.limit, at: service)
    }
    return blueprint.member(service.id).step.service?.timeout
  }

  /// The failures of a step, group or loop that are tolerated.
  func tolerance(of subject: Subject) -> FailureTolerance {
    if let source = blueprint.made.tolerances[subject.id] {
      return hasSucceeded(source, from: subject) ? .all : .none
    }
    return blueprint.member(subject.id).step.allowFailure
  }

  func hasSucceeded(_ source: String, from subject: Subject) -> Bool {
    result(blueprint.subject(source, from: subject))?.outcome == .success
  }
}

/// The combinations of a matrix by GitHub's rules: the product without the combinations that `exclude` names. Each
/// entry of `include` is added to every combination none of whose values it would change; otherwise it is a
/// combination of its own.
struct MatrixRules {
  let keys: [String]

  init(_ matrix: Matrix) {
    var product: [[String: String]] = [[:]]
    for axis in matrix.axes {
      let values = MatrixRules.entries(axis.values)
      product = product.flatMap { combination in
        values.map { combination.merging([axis.name: $0["value"] ?? ""]) { _, new in new } }
      }
    }
    let excluded = MatrixRules.entries(matrix.exclude)
    product.removeAll { combination in
      excluded.contains { $0.allSatisfy { combination[$0.key] == $0.value } }
    }
    let axes = matrix.axes.map(\.name)
    let own = MatrixRules.entries(matrix.include).filter { entry in
      !product.contains { combination in
        axes.allSatisfy { entry[$0] == nil || entry[$0] == combination[$0] }
      }
    }
    keys =
      product.map { combination in axes.compactMap { combination[$0] }.joined(separator: ", ") }
      + own.map { entry in (axes + ["z"]).compactMap { entry[$0] }.joined(separator: ", ") }
  }

  private static func entries(_ listing: Listing?) -> [[String: String]] {
    guard case .values(.array(let entries))? = listing else { return [] }
    return entries.map { entry in
      switch entry {
      case .string(let text): ["value": text]
      case .object(let object):
        object.members.reduce(into: [:]) { entry, member in
          if case .string(let text) = member.value { entry[member.key] = text }
        }
      default: [:]
      }
    }
  }
}
