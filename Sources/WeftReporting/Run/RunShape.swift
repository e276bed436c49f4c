import WeftDefinition
import WeftPlanning

/// What the displays want to know of a plan: which steps are run many times, or belong to what may absorb
/// their failures. Addresses are those of the plan, without elements.
struct RunShape: Sendable {
  /// For what is run many times or again as a whole, and for what absorbs failures: how many steps the plan
  /// has in it, but for those that clean up.
  private var sizes: [String: Int] = [:]
  /// For steps and groups the nearest of these around them, where there is one.
  private var scopes: [String: String] = [:]
  /// Steps that clean up: they are run, or not told of at all.
  private var cleanups: Set<String> = []

  /// Of a plan of which every step is run once, and none absorbs the failure of another.
  init() {}

  init(_ plan: Plan) {
    for step in plan.bodies.cleanups.values.joined() {
      cleanups.insert(plan.steps[Int(step)].address.text)
    }
    let nearest = plan.nearestAbsorbers()
    for (index, group) in plan.groups.enumerated() where !group.isTopLevel {
      guard let address = group.address?.text else { continue }
      if group.mayAbsorb { sizes[address] = 0 }
      if let around = nearest[plan.groups[index].parent ?? 0] { scopes[address] = around }
    }
    for step in plan.steps where cleanups.isEmpty || !cleanups.contains(step.address.text) {
      note(step, in: nearest[step.group])
    }
  }

  private mutating func note(_ step: PlannedStep, in scope: String?) {
    let address = step.address.text
    if step.hasControl, step.control.fanOut != nil { sizes[address] = 1 }
    guard let scope else { return }
    scopes[address] = scope
    var next: String? = scope
    while let scope = next {
      sizes[scope]? += 1
      next = scopes[scope]
    }
  }

  /// Whether nothing in the plan is out of the ordinary.
  var isPlain: Bool { sizes.isEmpty && cleanups.isEmpty }

  func size(of planned: String) -> Int? { sizes[planned] }
  func scope(around planned: String) -> String? { scopes[planned] }
  /// How many steps clean up.
  var cleanupCount: Int { cleanups.count }
  func cleansUp(_ step: StepAddress) -> Bool {
    !cleanups.isEmpty && cleanups.contains(planned(step))
  }

  private func isKnown(_ text: String) -> Bool {
    sizes[text] != nil || scopes[text] != nil || cleanups.contains(text)
  }

  /// The plan's name of what is called `upload[3]` or `deploy[eu].push` in a run.
  func planned(_ address: StepAddress) -> String {
    address.planned { isKnown($0.text) }.text
  }
}

extension Plan {
  /// For each group what may absorb failures of its members: itself, or the nearest around it.
  fileprivate func nearestAbsorbers() -> [String?] {
    var nearest: [String?] = []
    for group in groups {
      nearest.append(
        group.mayAbsorb ? group.address?.text : group.parent.flatMap { nearest[$0] })
    }
    return nearest
  }
}

extension PlannedGroup {
  /// Whether what fails in it need not fail the run.
  fileprivate var mayAbsorb: Bool {
    isRepeated || endsEarly || (step.map { $0.allowFailure != .none } ?? false)
      || step?.computed[.allowFailure] != nil
  }
}
