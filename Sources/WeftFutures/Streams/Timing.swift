import Synchronization

/// A junction that keeps the value to publish until a time, or until its source has finished. Sendable as every
/// ``Origin`` is.
private class Holding<Output: Sendable, Failure: Error>: Pipe<Output, Failure>, @unchecked Sendable
{
  final let timeline: Timeline
  final var held: Output?
  final var alarm: Alarm?
  private final var hasFinished = false

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>, _ clock: any Clock<Duration>
  ) {
    timeline = Timeline(clock)
    super.init(stage, source)
  }

  /// Removes the value to publish now, if there is one.
  final func takeDue() -> Output? {
    isOpen && (alarm == nil || hasFinished) ? held.take() : nil
  }

  final func finishIfDone() {
    if hasFinished, held == nil { finish(Completion<Failure>.finished) }
  }

  override func complete(from input: AnyInput) {
    if input.hasFailed { input.passEnd(to: self) } else { hasFinished = true }
  }

  override func cleanUp() {
    super.cleanUp()
    alarm = nil
    held = nil
  }
}

/// A junction that publishes a value when no other has come for a while. Sendable as every ``Origin`` is.
private final class Debounce<Output: Sendable, Failure: Error>:
  Holding<Output, Failure>, @unchecked Sendable
{
  private let quiet: Duration
  private var due = Duration.zero

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>, _ quiet: Duration,
    _ clock: any Clock<Duration>
  ) {
    self.quiet = quiet
    super.init(stage, source, clock)
  }

  override func receive(from input: AnyInput) {
    held = self.input.take()
    due = timeline.elapsed + quiet
    // An alarm that is set already is set again when it goes off too early: one task for a burst of values.
    if alarm == nil { alarm = Alarm(timeline, at: due, for: self) }
    if input.isComplete { end(of: input) }
  }

  override func proceed() {
    if let set = alarm, set.isDue {
      alarm = due > timeline.elapsed ? Alarm(timeline, at: due, for: self) : nil
    }
    if let value = takeDue() { emit(value) }
    finishIfDone()
  }
}

/// A junction that publishes at most one value in an interval. Sendable as every ``Origin`` is.
private final class Throttle<Output: Sendable, Failure: Error>:
  Holding<Output, Failure>, @unchecked Sendable
{
  private let interval: Duration
  private let prefersLatest: Bool

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>, _ interval: Duration,
    latest: Bool, _ clock: any Clock<Duration>
  ) {
    self.interval = interval
    prefersLatest = latest
    super.init(stage, source, clock)
  }

  override func receive(from input: AnyInput) {
    let value = self.input.take()
    if prefersLatest || held == nil { held = value }
    if input.isComplete { end(of: input) }
  }

  override func proceed() {
    if let set = alarm, set.isDue { alarm = nil }
    if let value = takeDue() {
      alarm = Alarm(timeline, at: timeline.elapsed + interval, for: self)
      emit(value)
    }
    finishIfDone()
  }
}

/// A junction that publishes everything later. Sendable as every ``Origin`` is.
private final class Delay<Output: Sendable, Failure: Error>:
  Pipe<Output, Failure>, @unchecked Sendable
{
  private enum Signal {
    case value(Output)
    case completion(AnyInput)
  }

  private let time: Duration
  private let timeline: Timeline
  private var queue = Fifo<(due: Duration, signal: Signal)>()
  private var next: (due: Duration, signal: Signal)?
  private var alarm: Alarm?

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>, _ time: Duration,
    _ clock: any Clock<Duration>
  ) {
    self.time = time
    timeline = Timeline(clock)
    super.init(stage, source)
  }

  override func receive(from input: AnyInput) {
    queue.append((timeline.elapsed + time, .value(self.input.take())))
    if input.isComplete { end(of: input) }
  }

  override func proceed() {
    while !isEnded {
      if next == nil { next = queue.popFirst() }
      guard let (due, signal) = next else { return }
      guard due <= timeline.elapsed else {
        if alarm == nil || alarm?.isDue == true { alarm = Alarm(timeline, at: due, for: self) }
        return
      }
      alarm = nil
      switch signal {
      case .value(let value):
        guard isOpen else { return }
        next = nil
        emit(value)
      case .completion(let input): input.passEnd(to: self)
      }
    }
  }

  override func complete(from input: AnyInput) {
    queue.append((timeline.elapsed + time, .completion(input)))
  }

  override func cleanUp() {
    super.cleanUp()
    alarm = nil
    next = nil
    queue = Fifo()
  }
}

/// A junction that fails if its receiver has to wait too long. Sendable as every ``Origin`` is.
private final class Timeout<Output: Sendable, Failure: Error>:
  Pipe<Output, Failure>, @unchecked Sendable
{
  private let limit: Duration
  private let failure: @Sendable () -> Failure
  private let timeline: Timeline
  private var due = Duration.zero
  private var isTiming = false
  private var alarm: Alarm?

  init(
    _ stage: Stage, _ source: Publisher<Output, Failure>, _ limit: Duration,
    _ clock: any Clock<Duration>, _ failure: @escaping @Sendable () -> Failure
  ) {
    self.limit = limit
    self.failure = failure
    timeline = Timeline(clock)
    super.init(stage, source)
  }

  override func proceed() {
    if isOpen, input.isFull {
      isTiming = false
      forward(input)
    }
    guard !isEnded else { return }
    guard isOpen else {
      isTiming = false
      return
    }
    if !isTiming {
      isTiming = true
      due = timeline.elapsed + limit
    }
    guard alarm == nil || alarm?.isDue == true else { return }
    if alarm != nil, due <= timeline.elapsed { return finish(Completion.failure(failure())) }
    alarm = Alarm(timeline, at: due, for: self)
  }

  override func cleanUp() {
    super.cleanUp()
    alarm = nil
  }
}

/// Operators that wait, on a clock that is given. Intervals must not be negative.
extension Publisher {
  /// Publishes a value when no other has come for the time `quiet`. When the stream finishes, the value that waits is
  /// published at once; a failure drops it.
  ///
  /// Keeps the latest value. The source is always asked for more.
  public func debounce(
    for quiet: Duration, clock: any Clock<Duration> = .continuous
  ) -> Publisher {
    Self.check(quiet)
    return Publisher(source: { Debounce($0, self, quiet, clock) })
  }

  /// Publishes at most one value in each `interval`: the first immediately, then the latest of an interval at its end, or
  /// its earliest if `latest` is false. When the stream finishes, the value that waits is published at once; a failure
  /// drops it.
  ///
  /// Keeps one value. The source is always asked for more.
  public func throttle(
    for interval: Duration, clock: any Clock<Duration> = .continuous, latest: Bool = true
  ) -> Publisher {
    Self.check(interval)
    return Publisher(source: { Throttle($0, self, interval, latest: latest, clock) })
  }

  /// Publishes all values and the end later, by `time`.
  ///
  /// Keeps the values of that time, without a limit. The source is always asked for more.
  public func delay(
    for time: Duration, clock: any Clock<Duration> = .continuous
  ) -> Publisher {
    Self.check(time)
    return Publisher(source: { Delay($0, self, time, clock) })
  }

  /// Fails with `failure()` and cancels the source if the subscriber has to wait longer than `limit` for the first or the
  /// next value. Time in which the subscriber is busy does not count.
  ///
  /// Keeps one value.
  public func timeout(
    _ limit: Duration, clock: any Clock<Duration> = .continuous,
    failingWith failure: @escaping @Sendable () -> Failure
  ) -> Publisher {
    Self.check(limit)
    return Publisher(source: { Timeout($0, self, limit, clock, failure) })
  }

  private static func check(_ interval: Duration) {
    precondition(interval >= .zero, "an interval cannot be negative: \(interval)")
  }
}

/// The time that has passed on a clock of any type.
struct Timeline: Sendable {
  private let now: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// The time since the timeline was made.
  var elapsed: Duration { now() }

  /// Waits until `time` has elapsed.
  ///
  /// - Returns: Whether it has; `false` if the task was cancelled.
  func sleep(until time: Duration) async -> Bool {
    do { try await wait(time) } catch { return false }
    return !Task.isCancelled
  }
}

/// A time at which an origin is to react, once. Releasing it cancels the wait.
final class Alarm: Sendable {
  private let due: Due
  private let task: Task<Void, Never>

  private final class Due: Sendable {
    let isDue = Atomic<Bool>(false)
  }

  init(_ timeline: Timeline, at time: Duration, for origin: Origin) {
    let due = Due()
    self.due = due
    task = Task { [weak origin] in
      guard await timeline.sleep(until: time) else { return }
      due.isDue.store(true, ordering: .releasing)
      origin?.notify()
    }
  }

  deinit { task.cancel() }

  /// Whether the time has come.
  var isDue: Bool { due.isDue.load(ordering: .acquiring) }
}
