import WeftDefinition
import WeftJSON

/// Decisions of a run that are known in advance.
package struct PlanForecast: Sendable, Hashable {
  /// The values of conditions that depend only on inputs, by the node of a step or a group's start.
  package var conditions: [Plan.NodeIndex: Bool] = [:]
  /// The number of elements of each loop, by node.
  package var elements: [Plan.NodeIndex: Int] = [:]
  /// The steps that the user has deselected, by node.
  package var leftOut: Set<Plan.NodeIndex> = []
  /// The forecasts for cached steps, by node.
  package var cached: [Plan.NodeIndex: CacheForecast] = [:]
  /// The durations of steps in earlier runs; `nil` if there are none.
  package var durations: ExpectedDurations?

  package init() {}
}

/// The forecast for one step or group.
struct NodeForecast: Sendable, Hashable {
  enum Condition: Sendable, Hashable {
    case holds, fails
    /// Known only when the step is ready.
    case open
    /// The condition of an enclosing group is false.
    case failsAround(StepAddress)
  }

  /// `nil` if there is no condition.
  var condition: Condition?
  var elements: Int?
  var isLeftOut = false
  /// The forecast for a cached step.
  var cached: CacheForecast?
  /// The duration of one instance in earlier runs.
  var duration: Duration?

  /// Whether it is known not to run.
  var isSkipped: Bool {
    if isLeftOut { return true }
    return switch condition {
    case .fails, .failsAround: true
    case .holds, .open, nil: false
    }
  }
}

extension Plan {
  /// The plan with a forecast.
  package func expecting(_ forecast: PlanForecast) -> Plan {
    var plan = self
    plan.forecast = forecast
    return plan
  }

  /// The plan of a run that skips these steps.
  package func leavingOut(_ leftOut: [Int]) -> Plan {
    var plan = self
    plan.forecast.leftOut = Set(leftOut.map { steps[$0].node })
    return plan
  }

  func forecast(of step: PlannedStep) -> NodeForecast {
    var known = forecast(at: step.node, step.control, in: step.group)
    known.duration = measuredDuration(at: step.node)
    return known
  }

  func forecast(of group: PlannedGroup) -> NodeForecast {
    guard let step = group.step else { return NodeForecast() }
    var known = forecast(at: group.startNode, step.control, in: group.parent ?? 0)
    if !forecast.leftOut.isEmpty {
      let inside = steps.lazy.filter { $0.node > group.startNode && $0.node < group.endNode }
      known.isLeftOut = inside.allSatisfy { forecast.leftOut.contains($0.node) }
    }
    return known
  }

  private func forecast(
    at node: NodeIndex, _ control: StepControl, in group: Int
  ) -> NodeForecast {
    NodeForecast(
      condition: condition(at: node, isWritten: control.condition != nil, in: group),
      elements: forecast.elements[node] ?? control.fanOut?.writtenCount,
      isLeftOut: forecast.leftOut.contains(node), cached: forecast.cached[node])
  }

  private func condition(
    at node: NodeIndex, isWritten: Bool, in group: Int
  ) -> NodeForecast.Condition? {
    var next: Int? = forecast.conditions.isEmpty ? nil : group
    while let index = next {
      if forecast.conditions[groups[index].startNode] == false,
        let address = groups[index].address
      {
        return .failsAround(address)
      }
      next = groups[index].parent
    }
    guard isWritten else { return nil }
    return forecast.conditions[node].map { $0 ? .holds : .fails } ?? .open
  }
}

extension FanOut {
  /// The number of elements, if the file alone determines it.
  fileprivate var writtenCount: Int? {
    switch self {
    case .forEach(let loop): loop.elements.writtenCount
    case .matrix(let matrix): matrix.writtenCount
    }
  }
}

extension Listing {
  fileprivate var writtenCount: Int? {
    switch self {
    case .computed: nil
    case .values(.array(let values)): values.count
    case .values(.object(let members)): members.count
    case .values: nil
    }
  }
}

extension Matrix {
  fileprivate var writtenCount: Int? {
    var written: [MatrixExpansion.Axis] = []
    for axis in axes {
      guard case .values(let values) = axis.values else { return nil }
      written.append((axis.name, values))
    }
    guard include?.isComputed != true, exclude?.isComputed != true else { return nil }
    return try? MatrixExpansion(
      axes: written, include: include?.written, exclude: exclude?.written
    ).count
  }
}

extension Listing {
  fileprivate var isComputed: Bool { if case .computed = self { true } else { false } }
  fileprivate var written: JSONValue? { if case .values(let value) = self { value } else { nil } }
}
