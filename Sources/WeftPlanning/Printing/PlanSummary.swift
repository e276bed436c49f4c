import WeftDefinition
import WeftDiagnostics

/// The size of a plan, in one line.
struct PlanSummary: Sendable, Hashable {
  var steps: Int
  /// The number of cleanup steps among them.
  var cleanups: Int
  /// The number of `finally` steps among them.
  var final: Int
  /// The number of groups, without top levels and `finally`.
  var groups: Int
  /// The number of steps in all elements of all loops; `nil` if there are no loops, or it is unknown.
  var withElements: Int?
  var longestPath: Int
  /// The value of ``Plan/width``.
  var width: Int

  init(of plan: Plan) {
    steps = plan.steps.count
    cleanups = plan.bodies.cleanups.values.reduce(0) { $0 + $1.count }
    final = plan.finalSteps
    groups = plan.groups.count { !$0.isTopLevel } - plan.bodies.finallyGroups.count
    withElements = plan.countWithElements
    longestPath = plan.longestPath
    width = plan.width
  }

  /// The summary for the user: `7 steps, 2 groups; longest path 4 steps, width 3`.
  var text: String {
    let special = [
      cleanups > 0 ? "\(cleanups) cleaning up" : nil, final > 0 ? "\(final) finally" : nil,
      withElements.map { "\($0) with all elements" },
    ].compactMap(\.self)
    let details = special.isEmpty ? "" : " (\(special.joined(separator: ", ")))"
    let counts = [count(steps, "step") + details, groups > 0 ? count(groups, "group") : nil]
    let size = counts.compactMap(\.self).joined(separator: ", ")
    guard steps > 1 else { return size }
    return "\(size); longest path \(count(longestPath, "step")), width \(width)"
  }

  private func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}

extension Plan {
  fileprivate var finalSteps: Int {
    let ranges = bodies.finallyGroups.map { groups[$0].startNode...groups[$0].endNode }
    return ranges.isEmpty
      ? 0 : steps.count { step in ranges.contains { $0.contains(step.node) } }
  }

  fileprivate var countWithElements: Int? {
    let counts = InstanceCounts(of: self)
    guard counts.hasLoops else { return nil }
    var sum = 0
    for step in steps {
      guard let times = counts.times(of: step) else { return nil }
      sum += times
    }
    return sum
  }

  /// The title of the plan: its name, or else the path of its file, or else a generic word.
  var title: String { workflow.name ?? workflow.source.value?.path ?? "workflow" }

  /// The title of a group in a drawing.
  func title(of group: PlannedGroup) -> String {
    guard !group.isTopLevel else { return files[group.file].workflow.name ?? "steps of the file" }
    return name(of: group) ?? group.address?.text ?? ""
  }

  /// Visits the informative edges of a step or of a group's start: it omits the edge to the start of its own group if
  /// another edge leads into the same group, which implies it.
  func visitShownEdges(of node: NodeIndex, in group: Int, _ visit: (NodeIndex) -> Void) {
    let edges = dependencies[node]
    let (start, end) = (groups[group].startNode, groups[group].endNode)
    for edge in edges.lazy.map(Int.init) {
      if edge == start, edges.contains(where: { $0 > start && $0 < end }) { continue }
      visit(edge)
    }
  }
}

/// The display order of cleanup steps and `finally`: next to what they belong to.
extension Plan {
  /// For the node of each cleanup step, that of the step, or the start of the group, that it cleans up.
  func cleanedUpNodes() -> [NodeIndex: NodeIndex] {
    var result: [NodeIndex: NodeIndex] = [:]
    for (node, cleanups) in bodies.cleanups {
      for step in cleanups { result[steps[Int(step)].node] = node }
    }
    return result
  }

  /// The start of the last item that is shown in a group: a member, its cleanup step, or `finally`.
  func lastShown(in group: Int) -> NodeIndex? {
    if groups[group].isTopLevel, let finally = files[groups[group].file].finally {
      return groups[finally].startNode
    }
    // Everything in another file is in its top level.
    if file(runByGroup: group) != nil { return lastShown(in: group + 1) }
    guard let member = groups[group].members.last.map(Int.init) else { return nil }
    guard let step = bodies.cleanups[member]?.last else { return member }
    return steps[Int(step)].node
  }
}

/// Short remarks on durations in earlier runs.
enum DurationRemarks {
  /// Remarks such as `took 1.2 s`.
  static func remarks(on step: PlannedStep, _ forecast: NodeForecast) -> [String] {
    guard let duration = forecast.duration else { return [] }
    let isMany = step.isLoop
    return ["took \(ShownDuration.precise(duration))" + (isMany ? " each" : "")]
  }
}

/// The critical path for the user: `critical path 1 m 05 s in earlier runs: build, unit, pack`.
struct CriticalPathText {
  private static let linesShown = 4

  private let head: String
  private let names: [String]

  /// - Returns: `nil` if there are no earlier runs.
  init?(_ plan: Plan) {
    guard let expected = plan.expectedDurations else { return nil }
    let guessed = expected.guessedCount
    guard expected.longestPath > 0, expected.measuredCount > guessed else {
      names = []
      head =
        "critical path not known: "
        + (guessed == 0
          ? "no step that will run has been measured"
          : "\(guessed == 1 ? "1 step" : "\(guessed) steps") never measured")
      return
    }
    let time = ShownDuration.precise(.microseconds(expected.longestPath))
    let cached = plan.steps.count { plan.forecast.cached[$0.node]?.verdict == .cached }
    let remarks = [
      guessed == 0 ? nil : "\(Count(guessed, "step")) never measured",
      cached == 0 ? nil : "without \(Count(cached, "step")) predicted as cached",
    ].compactMap(\.self)
    let proviso = remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))"
    names = expected.criticalPath(of: plan).map { plan.steps[$0].address.text }
    head = "critical path \(time) in earlier runs\(proviso)" + (names.isEmpty ? "" : ":")
  }

  /// Addresses are ASCII without control characters.
  func write(to text: inout PrintedText, width: Int) {
    text.append(head)
    var (used, lines) = (head.utf8.count, 1)
    for (position, name) in names.enumerated() {
      let word = position + 1 < names.count ? "\(name)," : name
      if used + 1 + word.utf8.count > width, used > 1 {
        lines += 1
        text.endLine()
        text.append(" ")
        used = 1
        if lines > CriticalPathText.linesShown {
          text.append(" and \(names.count - position) more")
          break
        }
      }
      text.append(" ")
      text.append(word)
      used += 1 + word.utf8.count
    }
    text.endLine()
  }
}

extension PrintedText {
  /// Appends what ends the forms for people: an empty line, the summary and the critical path.
  mutating func appendEnding(of plan: Plan, width: Int) {
    append("\n")
    append(PlanSummary(of: plan).text)
    endLine()
    CriticalPathText(plan)?.write(to: &self, width: width)
  }
}

extension Plan {
  /// The duration of one instance of a step in earlier runs; `nil` if it was never measured.
  func measuredDuration(at node: NodeIndex) -> Duration? {
    guard let durations = forecast.durations, case .step(let index) = nodes[node],
      durations.steps[Int(index)].basis == .measured
    else { return nil }
    return .microseconds(durations.steps[Int(index)].each)
  }

  /// The nodes of the steps on the critical path, in path order; empty if there are no earlier runs.
  func criticalNodes() -> [NodeIndex] {
    expectedDurations?.criticalPath(of: self).map { steps[$0].node } ?? []
  }
}
