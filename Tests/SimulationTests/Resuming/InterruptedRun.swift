import WeftDefinition
import WeftExecution
import WeftPlanning
import WeftTestKit

/// A run that is killed again and again, and gone on with each time, until it ends.
struct InterruptedRun {
  /// What was told of one part of it, until it was killed or ended.
  struct Part {
    var events: [RunEvent]
    var remains: [String] = []
    var end: RunEnd?
  }

  let made: RandomWorkflow
  /// As it goes when nobody kills it.
  let undisturbed: Simulation
  private(set) var parts: [Part] = []

  /// - Parameter isIdempotent: Whether what was cut off is started again.
  init?(seed: UInt64, isIdempotent: Bool) {
    var made = RandomWorkflow.make(seed: seed, .all)
    if isIdempotent { made.workflow = made.workflow.withIdempotentSteps }
    guard let undisturbed = Simulation(seed: seed, made) else { return nil }
    (self.made, self.undisturbed) = (made, undisturbed)
    var random = SeededGenerator(seed: seed ^ 0xDEAD)
    var past = RecordedRun()
    var number: UInt64 = 0
    var simulation = undisturbed
    for kill in 0...Int.random(in: 1...3, using: &random) {
      let isLast = kill > 0 && Int.random(in: 0..<2, using: &random) == 0
      let count =
        isLast
        ? simulation.events.count : Int.random(in: 1...simulation.events.count, using: &random)
      let events = Array(simulation.events.prefix(count))
      number += 1
      past.apply(
        RunRecord(number: number, at: .never, .opened(.init(run: .some, resumption: kill))))
      for event in events where event.kind.isRecorded {
        number += 1
        past.apply(RunRecord(number: number, at: .never, RunRecord.Kind(event.kind)))
      }
      parts.append(Part(events: events))
      guard let next = Simulation(seed: seed, made, resuming: past) else { return nil }
      simulation = next
    }
    parts.append(
      Part(events: simulation.events, remains: simulation.remains, end: simulation.report.end))
  }
}

extension InterruptedRun {
  /// For a person who looks for what went wrong.
  func tell() {
    print(made.outline)
    for (index, part) in parts.enumerated() {
      print(index == 0 ? "begins" : "goes on")
      for event in part.events { print(event.elapsed, String("\(event.kind)".prefix(90))) }
    }
  }
}

extension WallTime {
  fileprivate static let never = WallTime(nanoseconds: 0)
}

extension RunID {
  fileprivate static let some = RunID("simulated")
}

extension RunEvent.Kind {
  fileprivate var isRecorded: Bool {
    switch self {
    case .stepOutput, .outputDropped, .snapshot: false
    default: true
    }
  }
}

extension Workflow {
  fileprivate var withIdempotentSteps: Workflow {
    var changed = self
    changed.body.members = body.members.map(\.madeIdempotent)
    changed.finally = finally.map(\.madeIdempotent)
    return changed
  }
}

extension Step {
  fileprivate var madeIdempotent: Step {
    var step = self
    switch action {
    case .run: step.control.isIdempotent = true
    case .group(var group):
      group.members = group.members.map(\.madeIdempotent)
      step.action = .group(group)
    case .use, .workflow, .wait, .approve, .http, .compute: break
    }
    step.control.cleanup = control.cleanup.map(\.madeIdempotent)
    return step
  }
}
