import Synchronization
import WeftFutures
package import WeftPlanning

/// Orders everything that happens in a run, and hands it to every subscriber.
///
/// Publishing never waits for a subscriber. What a subscriber has not taken yet is kept for it:
/// all lifecycle events, which the size of the plan bounds, and output up to a limit, beyond which
/// output events collapse into ``RunEvent/Kind/outputDropped(_:)``.
package final class EventStream: Sendable {
  private let state: Mutex<State>
  private let elapsed: @Sendable () -> Duration
  private let secrets: RunSecrets
  private let recorder: (any RunRecorder)?
  /// Whether anything is recorded.
  let isRecorded: Bool
  /// The same as ``State/isMuted``, for those who record, which takes time.
  private let isMuted = Atomic(false)

  private struct Subscriber {
    let identity: ObjectIdentifier
    var queue: SubscriberQueue
  }

  /// Everything that the one lock guards.
  private struct State {
    var lastSequence: UInt64 = 0
    var fold: ReportFold
    var history: EventHistory
    var subscribers: [Subscriber] = []
    /// The last event of all, once it has happened.
    var finish: RunEvent?
    var isFinished = false
    /// Whether nothing is told any more but that the run waits.
    var isMuted = false

    mutating func append(_ kind: RunEvent.Kind, step: Int?, at elapsed: Duration) {
      precondition(!isFinished, "an event after the end of the run: \(kind)")
      if isMuted, !kind.leavesTheRun { return }
      lastSequence += 1
      fold.apply(kind, at: elapsed, step: step)
      isFinished = kind.isLast
      // Where nobody listens no event need be made.
      guard isFinished || history.events != nil || !subscribers.isEmpty else { return }
      let event = RunEvent(sequence: lastSequence, elapsed: elapsed, kind: kind)
      if isFinished { finish = event }
      history.append(event)
      // By index: a copy of the array that lasts while its queues change would have them copied whole.
      for index in subscribers.indices { subscribers[index].queue.append(event) }
    }

    /// The same as ``append(_:step:at:)`` without an event; not done where one is wanted.
    mutating func change(
      _ step: Int?, _ address: StepAddress, to change: (inout StepState, Duration) -> Void,
      at elapsed: () -> Duration
    ) -> Bool {
      guard !isFinished, !isMuted, history.events == nil, subscribers.isEmpty else { return false }
      lastSequence += 1
      fold.change(step, address) { change(&$0, elapsed()) }
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
  ///   - secrets: What no event may tell. Lines of output are to be masked before they are published.
  ///   - recorder: Writes down each event before anybody is told of it.
  ///   - historyLimit: How many events a late subscriber can still get one by one.
  ///   - elapsed: Time since the start of the run; read under the lock, so that the times of events
  ///     never decrease.
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
      State(fold: ReportFold(plan: plan), history: EventHistory(limit: historyLimit)))
  }

  /// - Parameters:
  ///   - step: The step's index in the plan, for an event about a step.
  ///   - values: Of the end of a step, what is to be recorded with it.
  package func publish(
    _ kind: RunEvent.Kind, step: Int? = nil,
    keeping values: @autoclosure () -> KeptValues = KeptValues()
  ) {
    if isPlain { return tell(kind, step) }
    let kind = harmless(kind)
    // Whoever lost the record has been told; that it happened is told all the same.
    _ = record(kind, values())
    tell(kind, step)
  }

  /// Whether what happens is written down nowhere, and nothing of it is to be hidden.
  private var isPlain: Bool { !isRecorded && !secrets.hideAnything }

  /// Where the report has a step that the plan does not know by its address, from now on.
  func place(of address: StepAddress) -> Int { state.withLock { $0.fold.place(nil, address) } }

  /// What publishing comes to where nobody listens, nothing is recorded and nothing is to be hidden: the state of
  /// a step is another. No event is made for that.
  ///
  /// - Parameter change: Sets the state, given the time since the start of the run.
  /// - Returns: Whether that is all; if not, the event is to be published.
  func change(
    _ step: Int?, _ address: StepAddress, to change: (inout StepState, Duration) -> Void
  ) -> Bool {
    guard isPlain else { return false }
    return state.withLock { $0.change(step, address, to: change, at: elapsed) }
  }

  /// Publishes that something is about to begin, unless that cannot be recorded.
  ///
  /// - Parameter waits: Whether it must not begin before the record is as safe as was promised: it must not be
  ///   made again if nobody knows that it has begun. What else begins, begins once it has been written.
  /// - Returns: Whether it may begin.
  package func announce(
    _ kind: RunEvent.Kind, step: Int? = nil, waits: Bool = true
  ) -> Bool {
    if isPlain {
      if leavesOut(kind) { return false }
      tell(kind, step)
      return true
    }
    let kind = harmless(kind)
    if waits {
      guard record(kind, KeptValues()) else { return false }
    } else {
      guard case .success = write(kind, KeptValues(), isUrgent: { false }) else { return false }
    }
    tell(kind, step)
    return true
  }

  /// Records what is not told yet.
  ///
  /// - Parameter isUrgent: Whether somebody has nothing else to do until it may be told.
  /// - Returns: What settles when it may be told; `nil`: now.
  func record(
    _ kind: @autoclosure () -> RunEvent.Kind, keeping values: @autoclosure () -> KeptValues,
    isUrgent: () -> Bool
  ) -> Future<Void, Never>? {
    guard isRecorded else { return nil }
    return try? write(harmless(kind()), values(), isUrgent: isUrgent).get()
  }

  /// Tells what has been recorded.
  func publish(recorded kind: RunEvent.Kind, step: Int?) {
    if isPlain { return tell(kind, step) }
    tell(harmless(kind), step)
  }

  /// From now on nothing is told or recorded but that the run waits: the engine leaves it as it is.
  package func mute() {
    isMuted.store(true, ordering: .sequentiallyConsistent)
    state.withLock { $0.isMuted = true }
  }

  /// Whether the last event of all has happened.
  var isFinished: Bool { state.withLock { $0.isFinished } }

  /// How much has happened.
  var lastSequence: UInt64 { state.withLock { $0.lastSequence } }

  /// Records what nobody is told.
  package func note(_ kind: @autoclosure () -> RunRecord.Kind) {
    guard let recorder, !isMuted.load(ordering: .relaxed) else { return }
    try? recorder.record(harmless(kind()), elapsed: elapsed())
  }

  private func record(_ kind: RunEvent.Kind, _ values: KeptValues) -> Bool {
    guard let recorder = recorder(of: kind) else { return !leavesOut(kind) }
    let kind = harmless(RunRecord.Kind(kind, keeping: values))
    return (try? recorder.record(kind, elapsed: elapsed())) != nil
  }

  /// The same without waiting until it is safe.
  private func write(
    _ kind: RunEvent.Kind, _ values: KeptValues, isUrgent: () -> Bool
  ) -> Result<Future<Void, Never>?, RecordFault> {
    guard let recorder = recorder(of: kind) else {
      return leavesOut(kind) ? .failure(RecordFault(message: "the run is left")) : .success(nil)
    }
    return Result { () throws(RecordFault) in
      try recorder.write(
        harmless(RunRecord.Kind(kind, keeping: values)), elapsed: elapsed(), isUrgent: isUrgent)
    }
  }

  /// Whether nothing of the kind begins any more.
  private func leavesOut(_ kind: RunEvent.Kind) -> Bool {
    isMuted.load(ordering: .relaxed) && !kind.leavesTheRun
  }

  /// What writes it down; `nil` if it is not to be.
  private func recorder(of kind: RunEvent.Kind) -> (any RunRecorder)? {
    if leavesOut(kind) { return nil }
    // It is recorded already.
    if case .stepRestored = kind { return nil }
    return recorder
  }

  private func tell(_ kind: RunEvent.Kind, _ step: Int?) {
    let wakers = state.withLock { state in
      state.append(kind, step: step, at: elapsed())
      return state.takeWakers()
    }
    for waker in wakers { waker() }
  }

  /// Publishes an event that may come too late: after the end of the run it is not one of the run's.
  package func publishUnlessFinished(_ kind: RunEvent.Kind) {
    let kind = harmless(kind)
    // One that comes too late may be recorded behind the run's end: it is a warning.
    _ = record(kind, KeptValues())
    let wakers = state.withLock { state -> [@Sendable () -> Void] in
      guard !state.isFinished else { return [] }
      state.append(kind, step: nil, at: elapsed())
      return state.takeWakers()
    }
    for waker in wakers { waker() }
  }

  /// The one place where texts of events are masked.
  private func harmless(_ kind: RunEvent.Kind) -> RunEvent.Kind {
    guard secrets.hideAnything else { return kind }
    return kind.masked(by: secrets.mask)
  }

  /// The one place where records are masked; events in them have been.
  private func harmless(_ kind: RunRecord.Kind) -> RunRecord.Kind {
    guard secrets.hideAnything else { return kind }
    return kind.masked(by: secrets.mask)
  }

  /// Publishes lines of one step with nothing of another thread between them.
  package func publish(_ lines: [StepOutput], of address: StepAddress) {
    guard !lines.isEmpty else { return }
    let wakers = state.withLock { state in
      let now = elapsed()
      for line in lines { state.append(.stepOutput(address, line), step: nil, at: now) }
      return state.takeWakers()
    }
    for waker in wakers { waker() }
  }

  /// What is known of the run at this moment; `nil` before its first event.
  package var report: RunReport? { state.withLock { $0.fold.report } }

  var toldSteps: ToldSteps { state.withLock { $0.fold.toldSteps } }

  /// A subscriber that gets everything: the events so far one by one if they are few, else a
  /// snapshot, and then the rest.
  package func subscribe(
    outputLimitBytes: Int = EventSubscription.defaultOutputLimitBytes
  ) -> EventSubscription {
    let subscription = EventSubscription(stream: self, outputLimitBytes: outputLimitBytes)
    state.withLock { state in
      var queue = SubscriberQueue(outputLimitBytes: outputLimitBytes)
      if let past = state.history.events {
        for event in past { queue.append(event) }
      } else if let report = state.fold.report {
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

  /// All that the subscriber has not taken yet; `nil` once there will be no more.
  func takeAll(for subscription: ObjectIdentifier) -> [RunEvent]? {
    state.withLock { state in
      guard let index = state.index(of: subscription) else { return nil }
      let events = state.subscribers[index].queue.takeAll()
      return events.isEmpty && state.isFinished ? nil : events
    }
  }

  /// Calls `waker` once: at once if there are so many events to take or nothing will come any more,
  /// else when there are.
  func whenReady(
    for subscription: ObjectIdentifier, count: Int, _ waker: @escaping @Sendable () -> Void
  ) {
    let isKept = state.withLock { state in
      guard !state.isFinished, let index = state.index(of: subscription) else { return false }
      return state.subscribers[index].queue.keep(waker, untilPending: count)
    }
    if !isKept { waker() }
  }

  /// Calls the waker that the subscriber left, if there is one, so that it does not wait any longer.
  func interrupt(_ subscription: ObjectIdentifier) {
    let waker = state.withLock { state -> (@Sendable () -> Void)? in
      guard let index = state.index(of: subscription) else { return nil }
      return state.subscribers[index].queue.takeWaker(ifDue: true)
    }
    waker?()
  }
}

extension RunEvent.Kind {
  /// Whether nothing comes after it.
  fileprivate var isLast: Bool {
    if case .runFinished = self { true } else { leavesTheRun }
  }

  fileprivate var leavesTheRun: Bool {
    if case .runWaiting = self { true } else { false }
  }
}
