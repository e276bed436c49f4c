/// Spans on their way to a collector: which to send when, which to drop, and how many were lost.
///
/// Decides only; time is passed in. At most one request is in flight. Its spans are kept until the collector has answered.
package struct ExportQueue: Sendable {
  package struct Limits: Sendable, Hashable {
    /// The size of all waiting spans beyond which the oldest are dropped: those that end last are the ones around them.
    package var queueBytes = 8 << 20
    /// The size from which spans are sent without further delay, and of one request.
    package var batchBytes = 1 << 20
    /// The age at which spans are sent.
    package var age = Duration.seconds(1)
    /// The delay before the first repetition of a request; doubles up to the limit, plus or minus a fifth.
    package var firstDelay = Duration.milliseconds(250)
    package var delayLimit = Duration.seconds(10)
    /// The time that remains to send spans after the last one was added.
    package var farewell = Duration.seconds(1)

    package init() {}
  }

  package enum Action: Sendable, Hashable {
    case send([[UInt8]])
    /// Until this time; `nil` until something happens.
    case wait(until: Duration?)
    /// Nothing more can be done: the request in flight, if there is one, is to be cancelled.
    case end
  }

  /// The spans that did not reach the collector, as far as is known.
  package struct Losses: Sendable, Hashable {
    package var sent = 0
    /// Dropped because too many waited.
    package var dropped = 0
    /// Refused by the collector.
    package var refused = 0
    /// Not delivered when the time was up.
    package var late = 0
    /// The last reason for which a request failed.
    package var reason: String?
    /// A remark of the collector, or about it.
    package var remark: String?

    package var count: Int { dropped + refused + late }
  }

  private let limits: Limits
  private var waiting: [[UInt8]] = []
  private var waitingBytes = 0
  /// The time at which the oldest waiting span was added.
  private var since: Duration?
  /// The request that has no answer yet, or is to be repeated.
  private var batch: [[UInt8]] = []
  private var isInFlight = false
  /// The time before which the request is not repeated.
  private var notBefore: Duration?
  private var failures = 0
  private var deadline: Duration?
  private var random: UInt64
  package private(set) var losses = Losses()

  package init(_ limits: Limits = Limits(), seed: UInt64) {
    (self.limits, random) = (limits, seed)
  }

  package mutating func append(_ span: [UInt8], at now: Duration) {
    waiting.append(span)
    waitingBytes += span.count
    since = since ?? now
    guard waitingBytes > limits.queueBytes else { return }
    // In one go: removing from the front costs as much as the queue is long.
    var excess = 0
    while waitingBytes > limits.queueBytes / 8 * 7, excess < waiting.count - 1 {
      waitingBytes -= waiting[excess].count
      excess += 1
    }
    waiting.removeFirst(excess)
    losses.dropped += excess
  }

  /// There are no more spans.
  package mutating func finish(at now: Duration) { deadline = deadline ?? now + limits.farewell }

  /// Decides what to do now. A returned batch counts as in flight.
  package mutating func next(at now: Duration) -> Action {
    if let deadline {
      if batch.isEmpty, waiting.isEmpty { return .end }
      if now >= deadline || notBefore.map({ $0 >= deadline }) == true { return giveUp() }
    }
    if isInFlight { return .wait(until: deadline) }
    if let notBefore, notBefore > now { return .wait(until: min(notBefore, deadline ?? notBefore)) }
    if batch.isEmpty {
      guard let since else { return .wait(until: nil) }
      let isDue = deadline != nil || waitingBytes >= limits.batchBytes || now >= since + limits.age
      guard isDue else { return .wait(until: since + limits.age) }
      takeBatch(at: now)
    }
    isInFlight = true
    return .send(batch)
  }

  private mutating func takeBatch(at now: Duration) {
    var (bytes, count) = (0, 0)
    while count < waiting.count, count == 0 || bytes + waiting[count].count <= limits.batchBytes {
      bytes += waiting[count].count
      count += 1
    }
    batch = Array(waiting[..<count])
    waiting.removeFirst(count)
    waitingBytes -= bytes
    since = waiting.isEmpty ? nil : now
  }

  /// Takes the answer to the request in flight.
  mutating func answered(_ reply: CollectorReply, at now: Duration) {
    guard isInFlight else { return }
    isInFlight = false
    switch reply {
    case .accepted(let rejected, let remark):
      let rejected = min(rejected, batch.count)
      losses.sent += batch.count - rejected
      losses.refused += rejected
      losses.remark = remark ?? losses.remark
      succeed()
    case .refused(let reason):
      losses.refused += batch.count
      losses.reason = reason
      succeed()
    case .tryLater(let asked, let reason):
      losses.reason = reason
      failures += 1
      notBefore = now + max(asked ?? .zero, delay())
    }
  }

  private mutating func succeed() {
    (batch, failures, notBefore) = ([], 0, nil)
  }

  private mutating func delay() -> Duration {
    let whole = min(limits.firstDelay * (1 << min(failures - 1, 16)), limits.delayLimit)
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return whole * (800 + Int(random >> 33) % 401) / 1000
  }

  private mutating func giveUp() -> Action {
    losses.late += batch.count + waiting.count
    if isInFlight, losses.reason == nil { losses.reason = "it did not answer in time" }
    (batch, waiting, waitingBytes, since, isInFlight) = ([], [], 0, nil, false)
    return .end
  }
}
