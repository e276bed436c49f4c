import Weft
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// Drives one engine of a case: carries out whatever is due next, and moves virtual time to it.
struct CaseDriver {
  private let live: RunEngine
  private let subscription: EventSubscription?
  private let world: CaseWorld
  private let store: CaseStore
  private let stop: StopSwitch
  /// The level of the stop that the run knows.
  private var stopLevel = StopLevel.none
  private let start: Duration
  /// The interruptions whose moments have not come.
  private(set) var pending: [PendingInterruption]
  /// The time at which the engine was cut off; `nil` if it was not.
  private(set) var goneAt: Duration?
  /// Whether its end is only waited for.
  private var isKilled = false
  /// Whether not even killing it ends it.
  private(set) var isStuck = false

  /// A run in virtual time goes no further than this, nor takes more turns.
  private static let (longest, mostTurns) = (Duration.seconds(36_525 * 86_400), 20_000_000)

  init(
    _ live: RunEngine, _ subscription: EventSubscription?, _ world: CaseWorld, _ store: CaseStore,
    _ stop: StopSwitch, startedAt start: Duration, _ interruptions: [PendingInterruption]
  ) {
    (self.live, self.subscription, self.world, self.store) = (live, subscription, world, store)
    (self.stop, self.start, pending) = (stop, start, interruptions)
  }

  /// Returns when the run has ended.
  mutating func drive(_ random: inout SeededGenerator?) {
    var turns = 0
    while !live.completion.isSettled, !isStuck {
      noticeEnd()
      for act in takeEvents() { carryOut(act) }
      if live.completion.isSettled || isStuck { break }
      passOnStop()
      if world.isUnscripted { kill() }
      turns += 1
      if turns > CaseDriver.mostTurns {
        turns = 0
        giveUp("the run goes on and on")
      }
      if let act = takeDue() { carryOut(act) } else { turn(&random) }
    }
    noticeEnd()
    // A run that has ended is not interrupted any more.
    takeEvents { _ in }
  }

  /// Ends the run if the case is to be stopped.
  private mutating func passOnStop() {
    let level = stop.level
    guard level > stopLevel else { return }
    stopLevel = level
    if level == .graceful { live.cancel(.requested) } else { kill() }
  }

  /// Carries out what is due next, or moves time.
  private mutating func turn(_ random: inout SeededGenerator?) {
    let now = world.time.now
    // Read before the agenda: real work that ends is in the agenda before it is no longer counted.
    let isRealWorkLeft = world.isRealWorkLeft
    let (act, timer) = (world.agenda.nextDue, world.time.nextDue)
    let mayAct = act.map { $0 <= now } ?? false
    let mayFire = timer.map { $0 <= now } ?? false
    switch (mayAct, mayFire) {
    case (true, true) where random != nil && Bool.random(using: &random!): world.time.callNext()
    case (true, _): world.agenda.actOnce(at: now, using: &random)
    case (false, true): world.time.callNext()
    case (false, false):
      if isRealWorkLeft { return world.waitForReal() }
      let times = pending.compactMap { $0.time.map { start + $0 } }
      guard let next = ([act, timer] + times).compactMap(\.self).min() else {
        return giveUp("the run never ends: \(unending)")
      }
      guard next <= CaseDriver.longest else {
        return giveUp("the run takes more than a hundred years")
      }
      world.time.move(to: next)
    }
  }

  /// The steps that never end.
  private var unending: String {
    let running = world.record.steps.filter { $0.value.spans.last.map { $0.end == nil } ?? false }
    let names = running.keys.map(\.text).sorted().map { "\"\($0)\"" }
    return names.isEmpty
      ? "nothing is left to happen"
      : "\(names.prefix(8).joined(separator: ", ")) never ends, and nothing stops it"
  }

  private mutating func giveUp(_ fault: String) {
    world.change { $0.fault = $0.fault ?? .init(message: fault) }
    isStuck = isKilled
    kill()
  }

  private mutating func kill() {
    guard !isKilled else { return }
    isKilled = true
    live.killNow()
  }

  // MARK: Interruptions

  private mutating func takeDue() -> TestInterruption.Act? {
    let (now, records) = (world.time.now - start, store.recordCount)
    let due = pending.indices.filter { index in
      pending[index].time.map { $0 <= now } ?? pending[index].record.map { $0 <= records } ?? false
    }
    let first = due.min { (pending[$0].time ?? now) < (pending[$1].time ?? now) }
    return first.map { pending.remove(at: $0).act }
  }

  /// Notices that the journal has ended at a record.
  private mutating func noticeEnd() {
    guard let end = store.end else { return }
    let count = store.recordCount
    pending.removeAll { pending in
      pending.end == end && pending.record.map { $0 <= count } ?? false
    }
    if end == .gone { vanish() }
  }

  private mutating func vanish() {
    guard goneAt == nil else { return }
    goneAt = world.time.now
    kill()
  }

  /// Records the events since the last call, and returns the interruptions that wait for one of them.
  private mutating func takeEvents() -> [TestInterruption.Act] {
    var acts: [TestInterruption.Act] = []
    takeEvents { event in
      while let index = pending.firstIndex(where: { $0.waits(for: event.kind) }) {
        acts.append(pending.remove(at: index).act)
      }
    }
    return acts
  }

  private func takeEvents(_ visit: (RunEvent) -> Void) {
    guard let events = subscription?.takeAll(), !events.isEmpty else { return }
    // Whatever an engine does after it is gone has not happened.
    let last = store.lastEvent
    world.change { record in
      for event in events where event.sequence <= last { record.take(event, startedAt: start) }
    }
    for event in events where event.sequence <= last { visit(event) }
  }

  private mutating func carryOut(_ act: TestInterruption.Act) {
    switch act {
    case .cancel: live.cancel(.requested)
    case .kill: live.killNow()
    case .fullDisk: store.end(.full)
    case .crash:
      store.end(.gone)
      vanish()
    }
  }
}

/// An interruption of an engine whose moment has not come.
struct PendingInterruption {
  let interruption: TestInterruption
  private let step: StepPattern?
  /// The time since the start of the engine.
  let time: Duration?
  /// The number of records that the engine has written.
  let record: Int?

  /// - Parameter each: The record that is meant by each of them.
  init(_ interruption: TestInterruption, each: Int) {
    self.interruption = interruption
    switch interruption.moment {
    case .time(let time): (self.time, record, step) = (time, nil, nil)
    case .record(let number): (time, record, step) = (nil, number ?? each, nil)
    case .start(let name), .end(let name):
      (time, record, step) = (nil, nil, StepPattern(name.value))
    }
  }

  var act: TestInterruption.Act { interruption.act.value }

  /// The end that it puts to the journal.
  var end: CaseStore.End? {
    switch act {
    case .crash: .gone
    case .fullDisk: .full
    case .cancel, .kill: nil
    }
  }

  /// Whether an event is its moment.
  func waits(for kind: RunEvent.Kind) -> Bool {
    guard let step else { return false }
    return switch (interruption.moment, kind) {
    case (.start, .stepStarted(let address, _, _)), (.start, .groupStarted(let address, _)),
      (.end, .stepFinished(let address, _)), (.end, .groupFinished(let address, _)):
      step.matches(address)
    default: false
    }
  }
}

extension TestInterruption {
  /// Whether the case is run once for each record.
  var isSweep: Bool { if case .record(nil) = moment { true } else { false } }
}
