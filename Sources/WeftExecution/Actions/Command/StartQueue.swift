import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Gives every attempt of a run a thread on which its program is started. On resource exhaustion, attempts wait
/// without a thread and without a descriptor, until a program of the run has ended or some time has passed.
///
/// Waiting attempts are tried one by one, the next as soon as one has started: so as many run as fit.
final class StartQueue: Sendable {
  /// The reason why an attempt is given up.
  enum Rejection: Sendable {
    case stopped
    case shortage(ResourceExhaustion)
  }

  /// An attempt to start. In the end either `job` returns `nil` or `refuse` is called, exactly once.
  struct Request: Sendable {
    let stop: StopSwitch
    /// Called when the attempt has to wait.
    let warn: @Sendable (ResourceExhaustion) -> Void
    let refuse: @Sendable (Rejection) -> Void
    /// Runs the program to its end on the calling thread; or returns the shortage that prevented it.
    let job: @Sendable () -> ResourceExhaustion?
  }

  private struct Entry: Sendable {
    let id: UInt64
    let request: Request
    /// Whether a stop removes it.
    var isObserved: Bool
  }

  private struct State {
    var lastID: UInt64 = 0
    /// In the order of arrival. While there are any, a timer runs or one of them is being tried.
    var waiting: [Entry] = []
    var running = 0
    var hasTimer = false
    var patience = SpawnRetryPolicy()

    mutating func insert(_ entry: Entry) {
      let index = waiting.firstIndex { $0.id > entry.id } ?? waiting.endIndex
      waiting.insert(entry, at: index)
    }

    mutating func take(_ id: UInt64) -> Request? {
      guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
      return waiting.remove(at: index).request
    }
  }

  private let state = Mutex(State())
  private let threads: ThreadPool
  /// `nil` if there is not even a thread for timers, so that nothing can wait.
  private let time: (any TimeSource)?

  init(_ threads: ThreadPool, time: (any TimeSource)?) {
    self.threads = threads
    self.time = time
  }

  /// Starts the attempt, or queues it behind those that are waiting already.
  ///
  /// - Parameter onThisThread: Whether it may use the calling thread, if that is one of the pool and about to
  ///   be free.
  func submit(_ request: Request, onThisThread: Bool = true) {
    let (entry, mustWait) = state.withLock { state in
      state.lastID += 1
      let entry = Entry(id: state.lastID, request: request, isObserved: !state.waiting.isEmpty)
      if entry.isObserved { state.insert(entry) }
      return (entry, entry.isObserved)
    }
    if mustWait { observeStop(of: entry) } else { start(entry, onThisThread: onThisThread) }
  }

  /// Called by a job when its program has started, which shows that there were resources for one.
  func programStarted() {
    let someWait = state.withLock { state in
      state.running += 1
      state.patience = SpawnRetryPolicy()
      return !state.waiting.isEmpty
    }
    if someWait { tryNext(onThisThread: false) }
  }

  /// Called by a job when its program has ended.
  func programEnded() { state.withLock { $0.running -= 1 } }

  private func start(_ entry: Entry, onThisThread: Bool) {
    do {
      try threads.submit(onThisThread: onThisThread) { [self] in run(entry) }
    } catch {
      wait(entry, for: ResourceExhaustion(error))
    }
  }

  private func run(_ entry: Entry) {
    if let shortage = entry.request.job() {
      wait(entry, for: shortage)
    } else {
      tryNext(onThisThread: true)
    }
  }

  private func tryNext(onThisThread: Bool) {
    let next = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
    guard let next else { return }
    start(next, onThisThread: onThisThread)
    // An idle thread occupies resources that something else may use.
    threads.endParked()
  }
}

// MARK: Waiting

extension StartQueue {
  private func wait(_ entry: Entry, for shortage: ResourceExhaustion) {
    guard shortage.mayPass, time != nil else { return entry.request.refuse(.shortage(shortage)) }
    entry.request.warn(shortage)
    wait(entry)
    scheduleRetry(shortage)
  }

  private func wait(_ entry: Entry) {
    var entry = entry
    let wasObserved = entry.isObserved
    entry.isObserved = true
    state.withLock { [entry] in $0.insert(entry) }
    if !wasObserved {
      observeStop(of: entry)
    } else if entry.request.stop.level > .none {
      // The stop came while the attempt was being tried, and did not find it here.
      withdraw(entry.id)
    }
  }

  private func observeStop(of entry: Entry) {
    let id = entry.id
    entry.request.stop.whenRequested { [self] in withdraw(id) }
  }

  private func withdraw(_ id: UInt64) {
    state.withLock { $0.take(id) }?.refuse(.stopped)
  }

  private func scheduleRetry(_ shortage: ResourceExhaustion) {
    let (pause, refused) = state.withLock { state -> (Duration?, [Entry]) in
      if state.hasTimer || state.waiting.isEmpty { return (nil, []) }
      if let pause = state.patience.nextPause(othersRun: state.running > 0) {
        state.hasTimer = true
        return (pause, [])
      }
      defer { state.waiting = [] }
      return (nil, state.waiting)
    }
    for entry in refused { entry.request.refuse(.shortage(shortage)) }
    guard let pause, let time else { return }
    _ = time.schedule(after: pause) { [self] in
      state.withLock { $0.hasTimer = false }
      tryNext(onThisThread: false)
    }
  }
}

extension StartQueue.Request {
  init(
    for attempt: Attempt, _ promise: Promise<AttemptEnd, Never>,
    job: @escaping @Sendable () -> ResourceExhaustion?
  ) {
    self.init(
      stop: attempt.stop,
      warn: { attempt.warnings.reportOnce($0.warning(step: attempt.address.text)) },
      refuse: { promise.succeed(AttemptEnd($0)) }, job: job)
  }
}

/// The backoff for starts that fail by resource exhaustion: it doubles from ``firstPause`` up to
/// ``longestPause``. Starts are given up after ``total``. The time while other programs of the run are running
/// does not count, because they will end and free resources.
struct SpawnRetryPolicy: Sendable, Hashable {
  let firstPause = Duration.milliseconds(50)
  let longestPause = Duration.seconds(5)
  let total = Duration.seconds(60)

  private var lastPause: Duration?
  private var spent = Duration.zero

  /// The delay before the next try; `nil` to give up.
  mutating func nextPause(othersRun: Bool) -> Duration? {
    guard othersRun || spent < total else { return nil }
    var pause = lastPause.map { min($0 * 2, longestPause) } ?? firstPause
    lastPause = pause
    if !othersRun {
      pause = min(pause, total - spent)
      spent += pause
    }
    return pause
  }
}

/// A lack of resources when an attempt was to be started.
struct ResourceExhaustion: Sendable, Hashable {
  /// The problem as one sentence.
  let message: String
  let help: String?
  /// Whether a later try may well succeed.
  let mayPass: Bool

  init(_ reason: ThreadError) {
    message = reason.message
    help = "raise the limit of processes (ulimit -u) or lower the parallelism"
    mayPass =
      switch reason {
      case .poolIsClosed: false
      case .resources(let error): error.isShortage
      }
  }

  /// `nil` if the obstacle is not resource exhaustion.
  init?(_ obstacle: AttemptStartError) {
    let error: SystemError
    switch obstacle {
    case .notStarted(.resources(let reason)), .input(_, let reason),
      .log(_, .unwritten(.other(let reason))):
      error = reason
    case .notStarted, .log, .environment, .timedOut, .stalled: return nil
    }
    guard error.isShortage else { return nil }
    let reason = SpawnError.resources(error)
    (message, help, mayPass) = (reason.message, reason.help, true)
  }

  /// The failure of an attempt that is given up.
  var failure: StepFailure {
    StepFailure(classes: [.spawn], message: "did not start: \(message)", help: help)
  }

  /// The warning when the first attempt has to wait.
  func warning(step: String) -> RunWarning {
    RunWarning(
      kind: .scarceResources, message: "step \"\(step)\" waits to start: \(message)", help: help)
  }
}
