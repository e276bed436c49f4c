import WeftDefinition
package import WeftDrawing

/// The plan as a picture: a box for each step, a frame for each group.
///
/// The top level of another file has a frame of its own only if the file also has `finally`; else the frame of the step
/// that runs the file is enough.
struct PlanPicture {
  private static let nameWidth = 48
  private static let commandWidth = 40
  private static let longestCommand = 1 << 16
  private static let remarkWidth = 60
  private static let descriptionWidth = 400
  private static let summaryWidth = 110

  private let plan: Plan
  /// The run that the picture shows; `nil` for the plan alone.
  private let run: DrawnRun?
  private let edges: DrawnEdges
  /// The steps on the critical path, in path order.
  private let criticalPath: [Plan.NodeIndex]
  private let criticalNodes: Set<Plan.NodeIndex>
  /// Whether boxes are drawn one by one, and have descriptions.
  private let isDescribed: Bool
  /// The group of the picture for each group of the plan; `nil` for the top level.
  private var groups: [Int?]
  private var picture: Picture

  static func picture(of plan: Plan, _ run: DrawnRun? = nil) -> Picture {
    var builder = PlanPicture(plan, run)
    builder.addGroups()
    builder.addSteps()
    builder.addEdges()
    return builder.picture
  }

  private init(_ plan: Plan, _ run: DrawnRun?) {
    (self.plan, self.run) = (plan, run)
    edges = DrawnEdges(plan)
    criticalPath = run?.criticalPath.map { plan.steps[$0].node } ?? edges.criticalNodes
    criticalNodes = Set(criticalPath)
    isDescribed = plan.nodes.count <= 2 * Picture.largest
    groups = Array(repeating: nil, count: plan.groups.count)
    picture = Picture(
      title: PlanPicture.shown(
        run?.mask(plan.title) ?? plan.title, atMost: PlanPicture.summaryWidth),
      summary: run?.summary ?? PlanPicture.summary(of: plan))
  }

  private static func summary(of plan: Plan) -> [String] {
    var text = PrintedText()
    CriticalPathText(plan)?.write(to: &text, width: summaryWidth)
    let path = String(decoding: text.bytes, as: UTF8.self).split(separator: "\n")
    return [PlanSummary(of: plan).text] + path.map(String.init)
  }

  /// Text without secrets and control characters, shortened.
  private func shown(_ text: String, atMost columns: Int) -> String {
    PlanPicture.shown(run?.mask(text) ?? text, atMost: columns)
  }

  private static func shown(_ text: String, atMost columns: Int) -> String {
    var line = PrintedText()
    line.append(text, atMost: columns)
    return String(decoding: line.bytes, as: UTF8.self)
  }

  // MARK: Groups

  private mutating func addGroups() {
    for (index, group) in plan.groups.enumerated().dropFirst() {
      let parent = groups[group.parent ?? 0]
      if group.isTopLevel, plan.files[group.file].finally == nil {
        groups[index] = parent
      } else {
        groups[index] = picture.groups.count
        picture.groups.append(drawn(group, in: parent))
      }
    }
  }

  private func drawn(_ group: PlannedGroup, in parent: Int?) -> Picture.Group {
    let forecast = plan.forecast(of: group)
    let frame = frame(of: group)
    let title = shown(plan.title(of: group), atMost: PlanPicture.nameWidth)
    let order = shown(group.orderText, atMost: PlanPicture.nameWidth)
    var lines = [
      Picture.Line(title, .name), Picture.Line(order, .remark, sign: Picture.Sign(frame)),
    ]
    lines += group.step.map { remarks(on: $0, forecast) } ?? []
    var traits: Picture.Traits = forecast.isSkipped ? [.skipped] : []
    if let outcome = group.address.flatMap({ run?.groups[$0] }) {
      lines.append(line(outcome.text, outcome.sign))
      traits.insert(outcome.trait)
    }
    if group.isLoop { traits.insert(.many) }
    return Picture.Group(
      lines: lines, description: description(of: group, forecast), traits: traits, frame: frame,
      parent: parent)
  }

  private func frame(of group: PlannedGroup) -> Picture.Group.Frame {
    if case .workflow? = group.step?.action { return .file }
    return switch group.order {
    case .steps: .sequence
    case .parallel: .parallel
    case .race: .race
    }
  }

  private func description(of group: PlannedGroup, _ forecast: NodeForecast) -> String {
    guard isDescribed, let address = group.address else { return "" }
    let remarks = PlanRemarks.remarks(
      on: group, named: plan.name(of: group), forecast, PlanStyle())
    return described([address.text] + remarks)
  }

  // MARK: Steps

  private mutating func addSteps() {
    picture.nodes.reserveCapacity(plan.steps.count)
    for step in plan.steps { picture.nodes.append(drawn(step)) }
  }

  private func drawn(_ step: PlannedStep) -> Picture.Node {
    let forecast = plan.forecast(of: step)
    let name = plan.name(of: step) ?? step.address.text
    var lines = [Picture.Line(shown(name, atMost: PlanPicture.nameWidth), .name)]
    let command = command(of: step, atMost: PlanPicture.commandWidth)
    if !command.isEmpty { lines.append(Picture.Line(command, .command)) }
    if let run {
      if let outcome = run.steps[step.address] { lines.append(line(outcome.text, outcome.sign)) }
    } else {
      lines += DurationRemarks.remarks(on: step, forecast).map {
        Picture.Line($0, .remark, sign: .duration)
      }
    }
    if step.hasControl || forecast.isSkipped { lines += remarks(on: step.step, forecast) }
    if let cached = forecast.cached { lines.append(line(cached.remark, .cached)) }
    if edges.isCleanup(step) { lines.append(line("cleanup", .cleanup)) }
    return Picture.Node(
      lines: lines, description: description(of: step, forecast), traits: traits(step, forecast),
      group: groups[step.group])
  }

  private func traits(_ step: PlannedStep, _ forecast: NodeForecast) -> Picture.Traits {
    var traits: Picture.Traits = []
    if step.isLoop { traits.insert(.many) }
    if criticalNodes.contains(step.node) { traits.insert(.critical) }
    if forecast.isSkipped { traits.insert(.skipped) }
    if forecast.cached?.verdict == .cached { traits.insert(.cached) }
    if edges.isCleanup(step) { traits.insert(.cleanup) }
    if let outcome = run?.steps[step.address] { traits.insert(outcome.trait) }
    return traits
  }

  private func command(of step: PlannedStep, atMost columns: Int) -> String {
    var text = PrintedText()
    // A secret is found only in a text that has all of it.
    CommandText.write(step, atMost: run == nil ? columns : PlanPicture.longestCommand, to: &text)
    let line = String(decoding: text.bytes, as: UTF8.self)
    return run == nil ? line : shown(line, atMost: columns)
  }

  private func remarks(on step: Step, _ forecast: NodeForecast) -> [Picture.Line] {
    ControlRemarks(PlanStyle()).subjects(of: step, forecast).map {
      line($0.remark, Picture.Sign($0.subject))
    }
  }

  private func line(_ remark: String, _ sign: Picture.Sign) -> Picture.Line {
    Picture.Line(
      shown(remark, atMost: PlanPicture.remarkWidth), .remark, sign: sign)
  }

  private func description(of step: PlannedStep, _ forecast: NodeForecast) -> String {
    guard isDescribed else { return "" }
    let remarks = PlanRemarks.remarks(
      on: step, named: plan.name(of: step), forecast, PlanStyle())
    let command = command(of: step, atMost: PlanPicture.descriptionWidth)
    return described([step.address.text, command] + remarks)
  }

  private func described(_ lines: [String]) -> String {
    lines.filter { !$0.isEmpty }
      .map { shown($0, atMost: PlanPicture.descriptionWidth) }
      .joined(separator: "\n")
  }

  // MARK: Edges

  private struct Pair: Hashable {
    var from: Graph.End
    var to: Graph.End
  }

  private mutating func addEdges() {
    let critical = criticalPairs()
    for node in plan.nodes.indices {
      if case .groupEnd = plan.nodes[node] { continue }
      edges.visit(to: node) { from, kind in
        guard kind != .implied, let from = end(at: from), let to = end(at: node) else { return }
        picture.edges.append(
          Picture.Edge(
            from: from, to: to, isWeak: kind == .cleanup,
            isCritical: critical.contains(Pair(from: from, to: to))))
      }
    }
  }

  private func end(at node: Plan.NodeIndex) -> Graph.End? {
    switch plan.nodes[node] {
    case .step(let index): .node(Int(index))
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].map { .group($0) }
    }
  }

  /// The ends of edges that may lead from a step of the critical path to the next: the steps, and the groups around
  /// them.
  private func criticalPairs() -> Set<Pair> {
    var pairs: Set<Pair> = []
    for (from, to) in zip(criticalPath, criticalPath.dropFirst()) {
      let targets = ends(around: to)
      for from in ends(around: from) {
        for to in targets { pairs.insert(Pair(from: from, to: to)) }
      }
    }
    return pairs
  }

  private func ends(around node: Plan.NodeIndex) -> [Graph.End] {
    var ends = [end(at: node)].compactMap(\.self)
    var next: Int? = plan.group(around: node)
    while let group = next {
      if let index = groups[group] { ends.append(.group(index)) }
      next = plan.groups[group].parent
    }
    return ends
  }
}

extension Picture.Sign {
  fileprivate init(_ frame: Picture.Group.Frame) {
    self =
      switch frame {
      case .sequence: .sequence
      case .parallel: .parallel
      case .race: .race
      case .file: .file
      }
  }

  fileprivate init(_ subject: ControlRemarks.Subject) {
    self =
      switch subject {
      case .selection: .skipped
      case .condition: .condition
      case .loop: .loop
      case .retry: .retry
      case .pools: .pool
      }
  }
}

/// The outcomes of a run, for a drawing of its plan.
package struct DrawnRun: Sendable {
  package struct Outcome: Sendable, Hashable {
    package var trait: Picture.Traits
    package var sign: Picture.Sign
    package var text: String

    package init(_ trait: Picture.Traits, _ sign: Picture.Sign, _ text: String) {
      (self.trait, self.sign, self.text) = (trait, sign, text)
    }
  }

  /// Lines below the title.
  package var summary: [String]
  /// The outcomes of steps, by address in the plan; steps without one have not begun.
  package var steps: [StepAddress: Outcome] = [:]
  package var groups: [StepAddress: Outcome] = [:]
  /// Steps by their indices in the plan, in path order.
  package var criticalPath: [Int] = []

  /// Hides the secrets that the workflow file contains.
  package var mask: @Sendable (String) -> String

  package init(summary: [String], mask: @escaping @Sendable (String) -> String) {
    (self.summary, self.mask) = (summary, mask)
  }
}

extension Plan {
  /// The plan as a picture with the outcomes of a run.
  package func picture(of run: DrawnRun) -> Picture { PlanPicture.picture(of: self, run) }
}
