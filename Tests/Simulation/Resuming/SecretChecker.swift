import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that each attempt reads the secrets that the steps before it have now: a secret is not recorded, so a resumed
/// run has to make those again that something still reads.
struct SecretChecker {
  private let made: RandomWorkflow
  private let blueprint: Blueprint
  /// The prefix of the addresses of the steps that the workflow describes.
  private let prefix: String
  /// The secrets, over all parts.
  private var secrets: [Subject: String] = [:]
  private var restoredGroups: Set<Subject> = []
  private(set) var violations: [String] = []
  /// The number of secrets that attempts have read.
  private(set) var readings = 0

  init(_ made: RandomWorkflow, _ parts: [RunPart], prefix: String = "") {
    (self.made, self.prefix) = (made, prefix)
    blueprint = Blueprint(made)
    for (index, part) in parts.enumerated() { check(part, number: index + 1) }
  }

  private mutating func check(_ part: RunPart, number: Int) {
    restoredGroups = []
    var attempts = Dictionary(grouping: part.attempts.reversed(), by: \.address)
    let doubted = part.doubted
    for event in part.events {
      if "\(event.kind)".contains(RandomSecret.beginning) {
        violations.append("part \(number): an event shows a secret: \(event.kind)")
      }
      if case .stepStarted(let address, _, _) = event.kind, !doubted.contains(address),
        let attempt = attempts[address]?.popLast(), let reader = subject(address)
      {
        for (variable, value) in attempt.environment { check(reader, variable, value, number) }
      }
      note(event.kind)
    }
  }

  private mutating func check(
    _ reader: Subject, _ variable: String, _ value: String?, _ number: Int
  ) {
    guard variable.hasPrefix(RandomSecret.variable("")) else { return }
    let id = String(variable.dropFirst(RandomSecret.variable("").count))
    let holder = blueprint.subject(id, from: reader)
    let expected =
      blueprint.isWholeLoop(holder)
      ? secrets.filter { blueprint.around($0.key) == holder }.map(\.value).joined()
      : secrets[holder] ?? RandomSecret.none
    readings += 1
    guard value != expected else { return }
    violations.append(
      "part \(number): \(blueprint.address(of: reader)) reads \(value ?? "nothing") of \(id), and"
        + " not \(expected)")
  }

  private mutating func note(_ kind: RunEvent.Kind) {
    switch kind {
    case .stepFinished(let address, let end), .stepRestored(let address, let end),
      .stepCached(let address, let end):
      guard let step = subject(address) else { return }
      // The secret of a service stays after its end.
      if blueprint.member(step.id).isService, end.outcome == .success { return }
      setSecret(of: step, if: end.outcome == .success)
    case .stepReady(let address, _):
      if let step = subject(address) { setSecret(of: step, if: true) }
    // A service that is restarted keeps what it had when it was ready.
    case .stepStarted(let address, attempt: 1, _):
      if let step = subject(address) { secrets[step] = nil }
    case .stepSkipped(let address, _): if let step = subject(address) { forget(step) }
    case .groupStarted(let address, let start):
      guard let group = subject(address) else { return }
      if start.isRestored { restoredGroups.insert(group) } else { forget(group) }
    case .groupRetrying(let address, _): if let group = subject(address) { forget(group) }
    case .groupFinished(let address, let end):
      guard let group = subject(address), let member = made.secretMembers[group.id] else { return }
      // A group that was done keeps what it had.
      if restoredGroups.contains(group), secrets[group] != nil { return }
      secrets[group] =
        end.outcome == .success
        ? secrets[blueprint.subject(member, from: group)] ?? RandomSecret.none : nil
    default: break
    }
  }

  private mutating func forget(_ group: Subject) {
    secrets = secrets.filter { $0.key != group && !blueprint.enclosing($0.key).contains(group) }
  }

  private mutating func setSecret(of step: Subject, if hasSucceeded: Bool) {
    let outputs = blueprint.member(step.id).step.outputs
    let isThere = hasSucceeded && outputs.contains { $0.name == RandomSecret.output }
    secrets[step] = isThere ? RandomSecret.value(of: step.id) : nil
  }

  /// `nil` for what is not of the workflow.
  private func subject(_ address: StepAddress) -> Subject? {
    guard address.text.hasPrefix(prefix) else { return nil }
    return blueprint.subject(called: String(address.text.dropFirst(prefix.count)))
  }
}
