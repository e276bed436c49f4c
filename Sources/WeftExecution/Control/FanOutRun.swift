import Synchronization
import WeftDefinition
import WeftPlanning

/// Which elements of a fan-out are started when, and what becomes of them all.
///
/// Elements are made as they are needed: as long as enough of their steps wait for slots, there is no point in
/// another. So a hundred thousand elements take the memory of those under way, and of what is read of the rest.
struct FanOutProgress {
  /// So many steps that wait for a slot keep every slot busy until there are more.
  static let enoughWaiting = 64

  private let elements: Int
  private let maxParallel: Int
  private let tolerated: Int
  private let onFailure: FailureResponse
  private var started = 0
  private var active = 0
  private var waiting = 0
  private var failures = 0
  private var isClosed = false
  private var isStarting = false
  private var passedOver = 0

  /// - Parameters:
  ///   - maxParallel: How many may be under way at once.
  ///   - tolerance: How many may fail without the whole failing.
  init(
    elements: Int, maxParallel: Int?, tolerance: FanOutTolerance, onFailure: FailureResponse
  ) {
    self.elements = elements
    self.maxParallel = maxParallel ?? .max
    tolerated = min(tolerance.limit(of: elements), elements)
    self.onFailure = onFailure
  }

  /// Begins to start elements; `false` if somebody is at it already, who will see what has changed.
  mutating func beginStarting() -> Bool {
    defer { isStarting = true }
    return !isStarting
  }

  /// The next element to start; `nil`: none now, and whoever was starting some is not any more.
  mutating func next() -> Int? {
    guard !isClosed, started < elements, active < maxParallel,
      waiting < FanOutProgress.enoughWaiting
    else {
      isStarting = false
      return nil
    }
    defer { started += 1 }
    active += 1
    return started
  }

  /// A step of an element waits for a slot, or does not any more.
  mutating func stepsWaiting(_ change: Int) { waiting += change }

  /// An element has ended.
  ///
  /// - Parameter isTolerable: Whether its failure counts among those that may be; else the loop fails by it.
  /// - Returns: Whether the whole has failed by it.
  mutating func ended(hasFailed: Bool, isTolerable: Bool = true) -> Bool {
    active -= 1
    guard hasFailed, !self.hasFailed else { return false }
    failures = isTolerable ? failures + 1 : tolerated + 1
    guard self.hasFailed else { return false }
    if onFailure != .continue { isClosed = true }
    return true
  }

  /// The element that was asked for last is not started after all, nor is any other; whoever was starting some
  /// is not any more.
  mutating func leaveOut() {
    started -= 1
    active -= 1
    (isClosed, isStarting) = (true, false)
  }

  /// The element that was asked for last is not started after all; others may be.
  mutating func passOver() {
    active -= 1
    passedOver += 1
  }

  /// No more elements are started.
  mutating func close() { isClosed = true }

  /// Whether nothing of it is under way and nothing will be.
  var isOver: Bool { active == 0 && !isStarting && (isClosed || started == elements) }

  /// Whether some elements would still be started.
  var hasElementsLeft: Bool { !isClosed && started < elements }

  /// How many elements have not been started.
  var notStarted: Int { elements - started + passedOver }

  /// Whether all elements have been started.
  var isComplete: Bool { started == elements && passedOver == 0 }

  /// More elements failed than may.
  var hasFailed: Bool { failures > tolerated }
}

/// A fan-out under way, shared by its elements.
final class FanOutRun: Sendable {
  struct State {
    var progress: FanOutProgress
    /// What others read of the elements; by index.
    var results: [ElementResult] = []
    var isOver = false
    /// How an element ended that neither succeeded nor failed, and holds back those who wait for all: one
    /// that was cancelled rather than one that could not run.
    var withheld: NodeResult?

    mutating func note(_ result: NodeResult) {
      guard result.holdsBack, result.conclusion != .failure else { return }
      if withheld?.conclusion != .cancelled, withheld == nil || result.conclusion == .cancelled {
        withheld = result
      }
    }
  }

  let state: Mutex<State>
  /// In a struct: a closure by itself would be wrapped once more each time that it is read through a mutex.
  private struct Starter {
    let start: @Sendable () -> Void
  }

  /// Starts what may be started now.
  private let starter = Mutex<Starter?>(nil)

  init(_ progress: FanOutProgress) {
    state = Mutex(State(progress: progress))
  }

  func whenThereIsRoom(_ start: @escaping @Sendable () -> Void) {
    starter.withLock { $0 = Starter(start: start) }
  }

  func start() { starter.withLock { $0 }?.start() }

  /// Nothing is to be started any more.
  func end() { starter.withLock { $0 = nil } }

  func stepQueued() { state.withLock { $0.progress.stepsWaiting(1) } }

  func stepAnswered() {
    state.withLock { $0.progress.stepsWaiting(-1) }
    start()
  }
}

/// What is known of an element when it has ended.
struct ElementResult: Sendable {
  let index: Int
  let key: String
  let values: NodeValues
}
