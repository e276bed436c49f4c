import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks nested files in each part of a run: what cannot start, because its condition or its inputs cannot be computed,
/// starts nothing, unless an earlier part has started it and it is ended now; what has started runs its `finally` and the
/// cleanups of its steps, if the part ends; and a step that is done runs again only if something has undone it.
struct FileChecker {
  private let plan: Plan
  private let addresses: PlanAddresses
  /// The steps that have succeeded, over all parts.
  private var succeeded: Set<StepAddress> = []
  /// The files that earlier parts have started.
  private var startedFiles: Set<StepAddress> = []
  private(set) var violations: [String] = []
  /// The number of files that ran their `finally`, and of those that could not start.
  private(set) var counts = (ended: 0, failedAtStart: 0)

  init(_ plan: Plan, _ parts: [RunPart]) {
    self.plan = plan
    addresses = PlanAddresses(plan)
    for (index, part) in parts.enumerated() { check(part, number: index + 1) }
  }

  private mutating func check(_ part: RunPart, number: Int) {
    var (files, started, ended) = (Set<StepAddress>(), Set<StepAddress>(), Set<StepAddress>())
    var failedAtStart: Set<StepAddress> = []
    // They are due until they have run, under whatever engine.
    succeeded = succeeded.filter {
      !part.rerunSteps.contains($0.text) && !part.rerunAddresses.contains($0)
    }
    for event in part.events {
      switch event.kind {
      case .groupStarted(let group, let start) where isFile(group) && !start.isRestored:
        files.insert(group)
      case .groupFinished(let group, let end) where end.failsAtStart && isFile(group):
        failedAtStart.insert(group)
      case .stepStarted(let step, _, _):
        started.insert(step)
        requireMayStart(step, number)
        succeeded.remove(step)
      case .stepFinished(let step, let end):
        ended.insert(step)
        if end.conclusion == .success { succeeded.insert(step) }
      case .stepRestored(let step, _), .stepSkipped(let step, _): ended.insert(step)
      default: break
      }
    }
    defer { startedFiles.formUnion(files.subtracting(failedAtStart)) }
    for file in failedAtStart {
      counts.failedAtStart += 1
      if startedFiles.contains(file) { continue }
      for step in started where step.text.hasPrefix(file.text + "/") {
        violations.append("part \(number): \(file) cannot start, and \(step) in it does")
      }
    }
    // A suspended part has ended nothing.
    guard let end = part.end else { return }
    for file in files.subtracting(failedAtStart) {
      let finally = plan.steps.map(\.address).filter {
        isFinal($0) && file == fileAddress(of: $0)
      }
      counts.ended += finally.isEmpty ? 0 : 1
      for step in finally where !ended.contains(step) {
        violations.append(
          "part \(number): \(file) has started, and \(step) is not run: \(end.outcome)")
      }
    }
    for step in started where !step.text.contains(".cleanup") {
      let cleanup = StepAddress(step.text + ".cleanup")
      if addresses.step(at: cleanup) != nil, !ended.contains(cleanup) {
        violations.append("part \(number): \(step) has started, and is not cleaned up")
      }
    }
  }

  /// Whether a step that is done may start again: it runs finally, or may be undone by a cleanup, of itself or of what it
  /// is in.
  private mutating func requireMayStart(_ step: StepAddress, _ number: Int) {
    guard succeeded.contains(step), !isFinal(step), !step.text.contains(".cleanup") else { return }
    var around: [StepAddress] = [step]
    while let outer = fileAddress(of: around.last!) { around.append(outer) }
    if around.contains(where: { addresses.step(at: StepAddress($0.text + ".cleanup")) != nil }) {
      return
    }
    violations.append("part \(number): \(step) is done, and starts again")
  }

  private func isFile(_ group: StepAddress) -> Bool {
    addresses.group(at: group).map { plan.file(runByGroup: $0) != nil } ?? false
  }

  private func isFinal(_ step: StepAddress) -> Bool {
    guard let index = addresses.step(at: step) else { return false }
    return plan.allEnclosingGroups(ofGroup: plan.steps[index].group).contains(
      where: plan.bodies.finallyGroups.contains)
  }

  /// The step that runs the file of a step; `nil` for the outermost.
  private func fileAddress(of step: StepAddress) -> StepAddress? {
    step.text.lastIndex(of: "/").map { StepAddress(String(step.text[..<$0])) }
  }
}
