import WeftDefinition
import WeftJSON

/// Decisions of a run that are known in advance.
package struct PlanForecast: Sendable, Hashable {
  /// The values of conditions that depend only on inputs, by the node of a step or a group's start.
  package var conditions: [Plan.NodeIndex: Bool] = [:]
  /// The number of elements of each loop, by node.
  package var elements: [Plan.NodeIndex: Int] = [:]
  /// The steps that the user has deselected, by node.
  package var excluded: Set<Plan.NodeIndex> = []
  /// The forecasts for cached steps, by node.
  package var cached: [Plan.NodeIndex: CacheForecast] = [:]
  /// The reasons, as clauses, why steps fail when they are about to start, by node.
  package var failures: [Plan.NodeIndex: String] = [:]
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
  var isExcluded = false
  /// The forecast for a cached step.
  var cached: CacheForecast?
  /// The reason, as a clause, why it fails when it is about to start.
  var failure: String?
  /// The duration of one instance in earlier runs.
  var duration: Duration?

  /// Whether it is known not to run.
  var isSkipped: Bool {
    if isExcluded { return true }
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
  package func excluding(_ excluded: [Int]) -> Plan {
    var plan = self
    plan.forecast.excluded = Set(excluded.map { steps[$0].node })
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
    if !forecast.excluded.isEmpty {
      let inside = steps.lazy.filter { $0.node > group.startNode && $0.node < group.endNode }
      known.isExcluded = inside.allSatisfy { forecast.excluded.contains($0.node) }
    }
    return known
  }

  private func forecast(
    at node: NodeIndex, _ control: StepControl, in group: Int
  ) -> NodeForecast {
    NodeForecast(
      condition: condition(at: node, isWritten: control.condition != nil, in: group),
      elements: forecast.elements[node] ?? control.fanOut?.writtenCount,
      isExcluded: forecast.excluded.contains(node), cached: forecast.cached[node],
      failure: forecast.failures[node])
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
  var writtenCount: Int? {
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
  /// The value that the file lists; `nil` if an expression computes it.
  var written: JSONValue? { if case .values(let value) = self { value } else { nil } }
}

/// The forecast for a cached step, or for one element of a loop, before a run.
package struct CacheForecast: Sendable, Hashable {
  package enum Verdict: Sendable, Hashable {
    /// Its result is in the cache.
    case cached
    /// It will run, for these reasons: the parts of its cache key that changed, or another word.
    case runs(reasons: [String])
    /// A part of its cache key is known only during the run.
    case open(because: String)
    /// Its elements have different forecasts.
    case differs
  }

  package struct Element: Sendable, Hashable {
    package let address: StepAddress
    package let forecast: CacheForecast

    package init(_ address: StepAddress, _ forecast: CacheForecast) {
      (self.address, self.forecast) = (address, forecast)
    }
  }

  package var verdict: Verdict
  /// An earlier step that may change its inputs, which would invalidate the forecast; its own address if other elements
  /// of the loop may.
  package var unless: StepAddress?
  /// The forecasts for the elements, in order, of a step in loops whose elements are known.
  package private(set) var elements: [Element] = []

  package init(_ verdict: Verdict, unless: StepAddress? = nil) {
    self.verdict = verdict
    self.unless = unless
  }

  /// Creates the forecast for a step from those for its elements; `nil` if there are none.
  package init?(ofElements elements: [Element]) {
    guard let first = elements.first?.forecast.verdict else { return nil }
    verdict =
      elements.allSatisfy { $0.forecast.verdict == first }
      ? first : CacheForecast.runs(elements.map(\.forecast.verdict)) ?? .differs
    unless = elements.lazy.compactMap(\.forecast.unless).first
    self.elements = elements
  }

  /// The verdict on a step of which every element runs; `nil` if one may not.
  private static func runs(_ verdicts: [Verdict]) -> Verdict? {
    var all: [String] = []
    for verdict in verdicts {
      guard case .runs(let reasons) = verdict else { return nil }
      for reason in reasons where !all.contains(reason) { all.append(reason) }
    }
    return .runs(reasons: all)
  }

  /// The reason for a step that never ran, as far as is known.
  package static let neverRun = "never"

  /// A short description for the user.
  package var remark: String {
    let proviso =
      unless.map { other in
        elements.contains { $0.address == other }
          ? ", unless elements change the inputs of others"
          : ", unless \"\(other)\" changes its inputs"
      } ?? ""
    return switch verdict {
    case .cached: "cached" + proviso
    case .runs([CacheForecast.neverRun]): "runs: not cached yet" + proviso
    case .runs(let reasons):
      "runs: \(reasons.map { $0 == CacheForecast.neverRun ? "some not cached yet" : $0 + " changed" }.joined(separator: ", "))"
        + proviso
    case .open(let reason): "cached or not, known at run time: \(reason)"
    case .differs: differences + proviso
    }
  }

  /// The elements that are cached, and those that run: `2 of 3 cached; build[b] runs: inputs changed`.
  private var differences: String {
    var (cached, open) = (0, 0)
    var running: [Element] = []
    for element in elements {
      switch element.forecast.verdict {
      case .cached: cached += 1
      case .runs: running.append(element)
      case .open, .differs: open += 1
      }
    }
    var parts = ["\(cached) of \(elements.count) cached"]
    if let only = running.first, running.count == 1 {
      parts.append("\(only.address) " + CacheForecast(only.forecast.verdict).remark)
    } else if !running.isEmpty {
      let named = running.prefix(CacheForecast.namedLimit).map(\.address.text)
      let rest = running.count - named.count
      parts.append(
        named.joined(separator: ", ") + (rest > 0 ? " and \(rest) more run" : " run"))
    }
    if open > 0 { parts.append("\(open) known at run time") }
    return parts.joined(separator: "; ")
  }

  private static let namedLimit = 3
}

extension Plan {
  /// Whether a step is known not to run.
  package func isCertainlySkipped(_ step: PlannedStep) -> Bool { forecast(of: step).isSkipped }

  /// The steps outside of loops, and the elements, whose results will be taken from the cache.
  package var foreseenRestorals: Set<StepAddress> {
    var addresses: Set<StepAddress> = []
    for (node, forecast) in forecast.cached {
      if forecast.elements.isEmpty {
        if forecast.verdict == .cached { addresses.insert(address(of: node)) }
      } else {
        for element in forecast.elements where element.forecast.verdict == .cached {
          addresses.insert(element.address)
        }
      }
    }
    return addresses
  }

  /// The plan with forecasts for its cached steps.
  package func expecting(cached: [NodeIndex: CacheForecast]) -> Plan {
    var plan = self
    plan.forecast.cached = cached
    return plan
  }
}
