import Synchronization
package import WeftEvents
import WeftFutures
package import WeftPlanning

/// Orders all events of a run, and delivers them to every subscriber.
///
/// Publishing never waits for a subscriber. Events that a subscriber has not taken yet are queued for it: all
/// lifecycle events, whose number the size of the plan bounds, and output up to a limit, beyond which output
/// events collapse into ``RunEvent/Kind/outputDropped(_:)``.
package final class EventStream: Sendable {
  private let state: Mutex<State>
  private let elapsed: @Sendable () -> Duration
  private let secrets: RunSecrets
  private let recorder: (any RunRecorder)?
  /// Whether there is a journal.
  let isRecorded: Bool
  /// A copy of ``State/isMuted`` outside the lock, because recording takes time.
  private let isMuted = Atomic(false)

  private struct Subscriber {
    let identity: ObjectIdentifier
    var queue: SubscriberQueue
  }

  /// The state that the one lock guards.
  private struct State {
    var lastSequence: UInt64 = 0
    var changeCount: UInt64 = 0
    var run: RunState
    var history: EventHistory
    var subscribers: [Subscriber] = []
    /// The last event of the run, once it has happened.
    var finish: RunEvent?
    var isFinished = false
    /// Whether only the suspension of the run may still be reported.
    var isMuted = false

    mutating func append(_ kind: RunEvent.Kind, step: Int?, at elapsed: Duration) {
      precondition(!isFinished, "an event after the end of the run: \(kind)")
      if isMuted, !kind.suspendsRun { return }
      lastSequence += 1
      if !kind.isOutput { changeCount += 1 }
      run.apply(kind, at: elapsed, step: step)
      isFinished = kind.isLast
      // Without subscribers and history no event is needed.
      guard isFinished || history.events != nil || !subscribers.isEmpty else { return }
      let event = RunEvent(sequence: lastSequence, elapsed: elapsed, kind: kind)
      if isFinished { finish = event }
      history.append(event)
      // By index: a copy of the array while its queues change would copy them whole.
      for index in subscribers.indices { subscribers[index].queue.append(event) }
    }

    /// Updates the state without building an event; returns false if a subscriber or the history needs one.
    mutating func change(
      _ step: Int?, _ address: StepAddress, to change: (inout StepState, Duration) -> Void,
      at elapsed: () -> Duration
    ) -> Bool {
      guard !isFinished, !isMuted, history.events == nil, subscribers.isEmpty else { return false }
      lastSequence += 1
      changeCount += 1
      run.change(step, address) { change(&$0, elapsed()) }
      return true
    }

    func index(of identity: ObjectIdentifier) -> Int? {
      subscribers.firstIndex { $0.identity == identity }
    }

    mutating func takeWakers() -> [@Sendable () -> Void] {
      var wakers: [@Sendable () -> Void] = []
      for index in subscribers.indices {
        if let waker = subscribers[index].queue.takeWaker(ifDue: isFinished) {
          wakers.append(waker)
        }
      }
      return wakers
    }
  }

  /// - Parameters:
  ///   - secrets: The secrets to mask in events. Lines of output must be masked before they are published.
  ///   - recorder: Records each event before any subscriber gets it.
  ///   - historyLimit: The number of events that a late subscriber can still get one by one.
  ///   - elapsed: Time since the start of the run; read under the lock, so that the times of events never
  ///     decrease.
  package init(
    plan: Plan, secrets: RunSecrets = RunSecrets(), recorder: (any RunRecorder)? = nil,
    historyLimit: Int = 1024,
    elapsed: @escaping @Sendable () -> Duration
  ) {
    self.elapsed = elapsed
    self.secrets = secrets
    self.recorder = recorder
    isRecorded = recorder != nil
    state = Mutex(
      State(run: RunState(ofEventsOf: plan), history: EventHistory(limit: historyLimit)))
  }

  /// - Parameters:
  ///   - step: The step's index in the plan, for an event about a step.
  ///   - values: The values to record with the end of a step.
  package func publish(
    _ kind: RunEvent.Kind, step: Int? = nil,
    keeping values: @autoclosure () -> RecordedValues = RecordedValues()
  ) {
    if isPlain { return report(kind, step) }
    let kind = harmless(kind)
    // The failure to record has been reported already; the event is reported nevertheless.
    _ = record(kind, values())
    report(kind, step)
  }

  /// Whether there is no journal and nothing to mask.
  private var isPlain: Bool { !isRecorded && !secrets.hidesAnything }

  /// The index in the report for a step whose address is not in the plan; stays valid.
  func place(of address: StepAddress) -> Int { state.withLock { $0.run.place(of: address) } }

  /// Updates the state of a step without building an event, if there is no subscriber, no journal and nothing
  /// to mask.
  ///
  /// - Parameter change: Sets the state, given the time since the start of the run.
  /// - Returns: Whether the update was made; if not, the event must be published.
  func change(
    _ step: Int?, _ address: StepAddress, to change: (inout StepState, Duration) -> Void
  ) -> Bool {
    guard isPlain else { return false }
    return state.withLock { $0.change(step, address, to: change, at: elapsed) }
  }

  /// Publishes that something is about to begin, unless that cannot be recorded.
  ///
  /// - Parameter waits: Whether it must not begin before the journal is as durable as promised: resume must not
  ///   run it again because its start was lost. Otherwise it may begin as soon as its record is written.
  /// - Returns: Whether it may begin.
  package func announce(
    _ kind: RunEvent.Kind, step: Int? = nil, waits: Bool = true
  ) -> Bool {
    if isPlain {
      if omits(kind) { return false }
      report(kind, step)
      return true
    }
    let kind = harmless(kind)
    if waits {
      guard record(kind, RecordedValues()) else { return false }
    } else {
      guard case .success = write(kind, RecordedValues(), isUrgent: { false }) else { return false }
    }
    report(kind, step)
    return true
  }

  /// Records an event that is published later.
  ///
  /// - Parameter isUrgent: Whether the caller has nothing else to do until the event may be published.
  /// - Returns: A future that settles when the event may be published; `nil` if that is now.
  func record(
    _ kind: @autoclosure () -> RunEvent.Kind, keeping values: @autoclosure () -> RecordedValues,
    isUrgent: () -> Bool
  ) -> Future<Void, Never>? {
    guard isRecorded else { return nil }
    return try? write(harmless(kind()), values(), isUrgent: isUrgent).get()
  }

  /// Publishes an event that has been recorded.
  func publish(recorded kind: RunEvent.Kind, step: Int?) {
    if isPlain { return report(kind, step) }
    report(harmless(kind), step)
  }

  /// Stops reporting and recording, except that the run is suspended: the engine leaves the run as it is.
  package func mute() {
    isMuted.store(true, ordering: .sequentiallyConsistent)
    state.withLock { $0.isMuted = true }
  }

  /// Whether the last event of the run has happened.
  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// The number of events so far.
  var lastSequence: UInt64 { state.withLock { $0.lastSequence } }

  /// The number of events so far, without output and progress: a service makes those while nothing else happens.
  var changeCount: UInt64 { state.withLock { $0.changeCount } }

  /// Records something that is not an event.
  package func record(_ kind: @autoclosure () -> RunRecord.Kind) {
    guard let recorder, !isMuted.load(ordering: .relaxed) else { return }
    try? recorder.record(harmless(kind()), elapsed: elapsed())
  }

  private func record(_ kind: RunEvent.Kind, _ values: RecordedValues) -> Bool {
    guard let recorder = recorder(of: kind) else { return !omits(kind) }
    let kind = harmless(.event(kind, keeping: values))
    return (try? recorder.record(kind, elapsed: elapsed())) != nil
  }

  /// Like `record`, without waiting until the record is durable.
  private func write(
    _ kind: RunEvent.Kind, _ values: RecordedValues, isUrgent: () -> Bool
  ) -> Result<Future<Void, Never>?, RecordError> {
    guard let recorder = recorder(of: kind) else {
      return omits(kind) ? .failure(RecordError(message: "run suspended")) : .success(nil)
    }
    return Result { () throws(RecordError) in
      try recorder.write(
        harmless(.event(kind, keeping: values)), elapsed: elapsed(), isUrgent: isUrgent)
    }
  }

  /// Whether muting suppresses events of this kind.
  private func omits(_ kind: RunEvent.Kind) -> Bool {
    isMuted.load(ordering: .relaxed) && !kind.suspendsRun
  }

  /// The recorder for events of this kind; `nil` if they are not recorded.
  private func recorder(of kind: RunEvent.Kind) -> (any RunRecorder)? {
    if omits(kind) { return nil }
    return kind.traits.isJournaled ? recorder : nil
  }

  private func report(_ kind: RunEvent.Kind, _ step: Int?) {
    let wakers = state.withLock { state in
      state.append(kind, step: step, at: elapsed())
      return state.takeWakers()
    }
    for waker in wakers { waker() }
  }

  /// Publishes an event unless the run has ended.
  package func publishUnlessFinished(_ kind: RunEvent.Kind) {
    let kind = harmless(kind)
    // A warning may be recorded after the end of the run.
    _ = record(kind, RecordedValues())
    let wakers = state.withLock { state -> [@Sendable () -> Void] in
      guard !state.isFinished else { return [] }
      state.append(kind, step: nil, at: elapsed())
      return state.takeWakers()
    }
    for waker in wakers { waker() }
  }

  /// The only place where texts of events are masked.
  private func harmless(_ kind: RunEvent.Kind) -> RunEvent.Kind {
    guard secrets.hidesAnything else { return kind }
    return kind.changingTexts(secrets.mask.masked)
  }

  /// The only place where records are masked; the events in them are masked already.
  private func harmless(_ kind: RunRecord.Kind) -> RunRecord.Kind {
    guard secrets.hidesAnything else { return kind }
    return kind.masked(by: secrets.mask)
  }

  /// Publishes lines of one step without events of other threads in between.
  package func publish(_ lines: [StepOutput], of address: StepAddress) {
    guard !lines.isEmpty else { return }
    let wakers = state.withLock { state in
      let now = elapsed()
      for line in lines { state.append(.stepOutput(address, line), step: nil, at: now) }
      return state.takeWakers()
    }
    for waker in wakers { waker() }
  }

  /// The present state of the run; `nil` before its first event.
  package var report: RunReport? { state.withLock { $0.run.report } }

  /// The counts of the steps so far.
  var counts: OutcomeCounts { state.withLock { $0.run.counts } }

  var voidSteps: Set<StepAddress> { state.withLock { $0.run.voidSteps } }
  var reportedSteps: ReportedSteps { state.withLock { $0.run.reportedSteps } }

  /// The failures so far that count, secrets masked.
  var failures: [RunFailure] { state.withLock { $0.run.failures } }

  /// Adds a subscriber that gets everything: the past events one by one if they are few, else a snapshot; then
  /// the further events.
  package func subscribe(
    outputLimitBytes: Int = EventSubscription.defaultOutputLimitBytes
  ) -> EventSubscription {
    let subscription = EventSubscription(stream: self, outputLimitBytes: outputLimitBytes)
    state.withLock { state in
      var queue = SubscriberQueue(outputLimitBytes: outputLimitBytes)
      if let recorded = state.history.events {
        for event in recorded { queue.append(event) }
      } else if let report = state.run.report {
        let snapshot = RunEvent.Kind.snapshot(report)
        queue.append(
          RunEvent(sequence: state.lastSequence, elapsed: elapsed(), kind: snapshot))
      }
      if state.history.events == nil, let finish = state.finish { queue.append(finish) }
      state.subscribers.append(
        Subscriber(identity: ObjectIdentifier(subscription), queue: queue))
    }
    return subscription
  }

  func unsubscribe(_ subscription: ObjectIdentifier) {
    state.withLock { $0.subscribers.removeAll { $0.identity == subscription } }
  }

  /// All events that the subscriber has not taken yet; `nil` after the last.
  func takeAll(for subscription: ObjectIdentifier) -> [RunEvent]? {
    state.withLock { state in
      guard let index = state.index(of: subscription) else { return nil }
      let events = state.subscribers[index].queue.takeAll()
      return events.isEmpty && state.isFinished ? nil : events
    }
  }

  /// Calls `waker` once: immediately if `count` events are pending or no further ones will come, else as soon
  /// as they are.
  func whenReady(
    for subscription: ObjectIdentifier, count: Int, _ waker: @escaping @Sendable () -> Void
  ) {
    let isKept = state.withLock { state in
      guard !state.isFinished, let index = state.index(of: subscription) else { return false }
      return state.subscribers[index].queue.keep(waker, untilPending: count)
    }
    if !isKept { waker() }
  }

  /// Calls the subscriber's waker, if there is one, so that it stops waiting.
  func interrupt(_ subscription: ObjectIdentifier) {
    let waker = state.withLock { state -> (@Sendable () -> Void)? in
      guard let index = state.index(of: subscription) else { return nil }
      return state.subscribers[index].queue.takeWaker(ifDue: true)
    }
    waker?()
  }
}

extension RunEvent.Kind {
  /// Whether no event follows it.
  fileprivate var isLast: Bool {
    if case .runFinished = self { true } else { suspendsRun }
  }

  fileprivate var isOutput: Bool {
    switch self {
    case .stepOutput, .stepProgress: true
    default: false
    }
  }

  fileprivate var suspendsRun: Bool {
    if case .runWaiting = self { true } else { false }
  }
}
