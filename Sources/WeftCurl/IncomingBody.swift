import WeftHTTP
import WeftPlatform

/// The destination of a response body, as its ``BodyPlan`` defines it.
struct IncomingBody {
  enum Taking {
    case taken
    /// The caller must deliver the same bytes again.
    case full
    /// Neither these bytes nor later ones are needed.
    case isEnough
    case tooMuch(HTTPFailure.Kind)
  }

  private enum Place {
    case nowhere
    case memory([UInt8], isStart: Bool)
    case outlet(BodyOutlet)
  }

  private var place: Place
  private var budget: BodyBudget

  static let nothing = IncomingBody(.nowhere, BodyBudget(limit: nil))

  private init(_ place: Place, _ budget: BodyBudget) {
    self.place = place
    self.budget = budget
  }

  /// - Parameter tell: Called on another thread.
  init(
    _ plan: BodyPlan, threads: ThreadPool,
    report: @escaping @Sendable (BodyOutlet.News) -> Void
  ) {
    switch plan {
    case .keep(let limit): self.init(.memory([], isStart: false), BodyBudget(limit: limit))
    case .keepStart(let limit): self.init(.memory([], isStart: true), BodyBudget(limit: limit))
    case .write(let writer, let limit):
      self.init(
        .outlet(BodyOutlet(writer, threads: threads, report: report)), BodyBudget(limit: limit))
    case .refuse: self = .nothing
    }
  }

  /// Returns the failure if the declared length already exceeds the limit.
  func refusal(of head: HTTPResponseHead) -> HTTPFailure.Kind? {
    if case .memory(_, isStart: true) = place { return nil }
    return budget.isExceeded(byLengthOf: head) ? exceeded : nil
  }

  private var exceeded: HTTPFailure.Kind { .limit(.body, budget.limit ?? .max) }

  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
    switch place {
    case .nowhere: return .taken
    case .memory(var body, let isStart):
      // The array must be uniquely referenced, or each append would copy it.
      place = .nowhere
      let count = budget.take(bytes.count)
      body.append(contentsOf: bytes.prefix(count))
      place = .memory(body, isStart: isStart)
      if count == bytes.count { return .taken }
      return isStart ? .isEnough : .tooMuch(exceeded)
    case .outlet(let outlet):
      var later = budget
      let count = later.take(bytes.count)
      guard outlet.offer(UnsafeRawBufferPointer(rebasing: bytes.prefix(count))) else {
        return .full
      }
      budget = later
      return count == bytes.count ? .taken : .tooMuch(exceeded)
    }
  }

  /// Returns the body kept in memory; `nil` if the body has another destination.
  mutating func takeKept() -> [UInt8]? {
    guard case .memory(let body, _) = place else { return nil }
    place = .nowhere
    return body
  }

  /// - Parameter done: Called with the failure if the body ended differently than `end` says.
  mutating func finish(_ end: BodyEnd, done: @escaping @Sendable (HTTPFailure.Kind?) -> Void) {
    guard case .outlet(let outlet) = place else { return done(nil) }
    place = .nowhere
    outlet.finish(end, done: done)
  }
}
