import WeftDefinition
import WeftJSON
import WeftTestKit

/// Adds to a random workflow what depends on results of steps: lists for loops, keys of elements, time limits,
/// conditions of retries, results that are read. Also adds approvers, and what a matrix includes and excludes.
struct ValueAdder: StepAdder {
  var random: SeededGenerator
  var made: RandomWorkflow
  /// The steps so far: those without a loop of their own, and those that are loops.
  private var plain: Set<String> = []
  private var loops: Set<String> = []
  let density: Int

  static func add(to made: RandomWorkflow, seed: UInt64) -> RandomWorkflow {
    var random = SeededGenerator(seed: seed ^ 0xADDE)
    let density = [0, 15, 35, 60].randomElement(using: &random)!
    var adder = ValueAdder(random: random, made: made, density: density)
    adder.made.workflow.body.members = adder.added(to: made.workflow.body.members)
    adder.made.workflow.finally = adder.added(to: made.workflow.finally)
    adder.made.workflow.body.members = adder.declaring(adder.made.workflow.body.members)
    adder.made.workflow.finally = adder.declaring(adder.made.workflow.finally)
    return adder.made
  }

  private init(random: SeededGenerator, made: RandomWorkflow, density: Int) {
    (self.random, self.made, self.density) = (random, made, density)
  }

  mutating func added(to step: Step) -> Step {
    guard let id = step.id?.text else { return step }
    var step = step
    addElements(to: &step, id)
    addConditions(to: &step, id)
    switch step.action {
    case .group(var group):
      group.members = added(to: group.members)
      step.action = .group(group)
    case .run: addToCommand(&step, id)
    case .compute, .wait, .approve, .workflow, .use, .http: break
    }
    if step.control.fanOut != nil { loops.insert(id) }
    return step
  }

  /// A step among these that is visible from another step.
  private mutating func visible(from id: String, among kind: Set<String>) -> String? {
    (made.visible[id] ?? []).filter(kind.contains).randomElement(using: &random)
  }

  // MARK: Loops

  private mutating func addElements(to step: inout Step, _ id: String) {
    switch step.control.fanOut {
    case .forEach(var loop):
      if chance(), let source = visible(from: id, among: plain) {
        made.readings[id, default: []].insert(source)
        made.lists[id] = RandomList(source: source, otherwise: ["a", "b"].randomPrefix(&random))
        loop.elements = .computed(Condition(made.lists[id]!.text))
      }
      if chance() { loop.key = Condition(RandomList.key) }
      step.control.fanOut = .forEach(loop)
    case .matrix(var matrix):
      if chance() {
        matrix.exclude = .values(.array([entry(["x": ["x1", "x2"], "y": ["y1", "y2"]], matrix)]))
      }
      if chance() {
        var added = entry(["x": ["x1", "x2", "x9"], "y": ["y1"]], matrix)
        if case .object(var members) = added {
          members["z"] = .string("z1")
          added = .object(members)
        }
        matrix.include = .values(.array([added]))
      }
      step.control.fanOut = .matrix(matrix)
    case nil: break
    }
  }

  /// A value for some of the axes, at least one.
  private mutating func entry(_ values: [String: [String]], _ matrix: Matrix) -> JSONValue {
    var axes = matrix.axes.map(\.name)
    if axes.count > 1, Bool.random(using: &random) { axes.removeLast() }
    return .object(
      JSONObject(axes.map { ($0, .string(values[$0]!.randomElement(using: &random)!)) }))
  }

  // MARK: Retries and time limits

  private mutating func addConditions(to step: inout Step, _ id: String) {
    guard !step.control.retry.isEmpty, chance() else { return }
    var isGroup = false
    if case .group = step.action { isGroup = true }
    for index in step.control.retry.indices where Bool.random(using: &random) {
      let condition = RandomRetryCondition.any(ofGroup: isGroup, &random)
      step.control.retry[index].condition = Condition(condition.text)
      made.retryConditions[id, default: [:]][index] = condition
    }
  }

  private mutating func addToCommand(_ step: inout Step, _ id: String) {
    let needsNothing =
      step.settings.environment.isEmpty && step.control.pools.isEmpty && step.control.retry.isEmpty
    if needsNothing, Int.random(in: 0..<4, using: &random) == 0, chance() {
      step.action = .approve(Approval(message: "go on?"))
      return
    }
    if chance(), let loop = visible(from: id, among: loops) {
      made.readings[id, default: []].insert(loop)
      step.settings.environment["results_\(loop)"] =
        "${{ join(steps.\(loop).results.*.key, '|') }}: "
        + "${{ join(steps.\(loop).results.*.outcome, '|') }}"
    }
    if chance(), let source = visible(from: id, among: plain) {
      made.readings[id, default: []].insert(source)
      made.limits[id] = RandomLimit(source: source)
      step.$timeout = .computed(Condition(made.limits[id]!.text), until: nil)
    }
    if step.control.fanOut == nil { plain.insert(id) }
  }

  /// The steps with the outputs that loops read.
  private func declaring(_ steps: [Step]) -> [Step] {
    let sources = Set(made.lists.values.compactMap(\.source))
    return steps.map { step in
      var step = step
      if case .group(var group) = step.action {
        group.members = declaring(group.members)
        step.action = .group(group)
      }
      if let id = step.id?.text, sources.contains(id) { step.outputs = [RandomList.output] }
      return step
    }
  }
}

extension [String] {
  fileprivate func randomPrefix(_ random: inout SeededGenerator) -> [String] {
    Array(prefix(Int.random(in: 0...count, using: &random)))
  }
}
