import WeftDefinition
import WeftDiagnostics

/// Checks that the actions of steps are registered. Their parameters are known only to the program that registered
/// them.
struct ActionChecker {
  private let outline: Outline
  private let names: [String]
  private let nearest: NearestName
  private var found = FoundProblems()

  static func problems(
    of outline: Outline, registered actions: Set<ActionName>
  ) -> [PlacedProblem] {
    guard outline.hasControl else { return [] }
    var checker = ActionChecker(outline, actions.map(\.text).sorted())
    for step in outline.steps where step.callsAction {
      guard let call = step.call, !actions.contains(call.name) else { continue }
      checker.report(call, of: step)
    }
    return checker.found.problems
  }

  private init(_ outline: Outline, _ names: [String]) {
    self.outline = outline
    self.names = names
    nearest = NearestName(names)
  }

  private mutating func report(_ call: ActionCall, of step: PlannedStep) {
    found.file = outline.groups[step.group].file
    found.node = step.node
    found.append(
      .unknownAction(
        of: outline.member(at: step.node).subject, named: call.name.text, known: names,
        nearest: nearest.nearest(to: call.name.text)), call.place.value)
  }
}
