import Synchronization
import WeftDefinition
import WeftEvents

/// Decides which elements of a loop start when, and whether the loop fails.
///
/// Elements are created as needed: while enough of their steps wait for slots, no further element is started.
/// So a hundred thousand elements only use memory for those that are running, and for the values that are read
/// of the rest.
struct LoopProgress {
  /// Enough waiting steps to keep every slot busy until further elements have started.
  static let waitingLimit = 64

  private let elements: Int
  private let maxParallel: Int
  private let tolerated: Int
  private let onFailure: FailureResponse
  private let visitsAll: Bool
  private var started = 0
  private var active = 0
  private var waiting = 0
  private var failures = 0
  private var isClosed = false
  private var isStarting = false
  private var skippedElements = 0

  /// - Parameters:
  ///   - maxParallel: The maximum number of elements that run at once.
  ///   - tolerance: The number of elements that may fail without failing the loop.
  ///   - visitsAll: Whether ``next()`` names elements after the loop has failed, too: an earlier engine may have started
  ///     them.
  init(
    elements: Int, maxParallel: Int?, tolerance: FanOutTolerance, onFailure: FailureResponse,
    visitsAll: Bool = false
  ) {
    self.elements = elements
    self.maxParallel = maxParallel ?? .max
    tolerated = min(tolerance.limit(of: elements), elements)
    self.onFailure = onFailure
    self.visitsAll = visitsAll
  }

  /// Begins to start elements; `false` if another call is already doing so, which will see the change.
  mutating func beginStarting() -> Bool {
    defer { isStarting = true }
    return !isStarting
  }

  /// The next element to start; `nil` if there is none now, which ends the call that was starting elements.
  mutating func next() -> Int? {
    guard !isClosed, started < elements, active < maxParallel,
      waiting < LoopProgress.waitingLimit
    else {
      isStarting = false
      return nil
    }
    defer { started += 1 }
    active += 1
    return started
  }

  /// Records that a step of an element began to wait for a slot, or stopped waiting.
  mutating func stepsWaiting(_ change: Int) { waiting += change }

  /// Records that an element has ended.
  ///
  /// - Parameter isTolerable: Whether `tolerance` applies to its failure; otherwise its failure fails the loop.
  /// - Returns: Whether this failed the loop.
  mutating func ended(hasFailed: Bool, isTolerable: Bool = true) -> Bool {
    active -= 1
    guard hasFailed, !self.hasFailed else { return false }
    failures = isTolerable ? failures + 1 : tolerated + 1
    guard self.hasFailed else { return false }
    if onFailure != .continue, !visitsAll { isClosed = true }
    return true
  }

  /// Takes back the last element from ``next()`` and starts no further one; ends the call that was starting
  /// elements.
  mutating func skipAll() {
    started -= 1
    active -= 1
    (isClosed, isStarting) = (true, false)
  }

  /// Takes back the last element from ``next()``; others may start.
  mutating func skipElement() {
    active -= 1
    skippedElements += 1
  }

  /// Whether no element is running and none will start.
  var isOver: Bool { active == 0 && !isStarting && (isClosed || started == elements) }

  /// The number of elements that have not started.
  var notStarted: Int { elements - started + skippedElements }

  /// Whether all elements have been started.
  var isComplete: Bool { started == elements && skippedElements == 0 }

  /// Whether more elements have failed than are tolerated.
  var hasFailed: Bool { failures > tolerated }
}

/// A running loop, shared by its elements.
final class LoopRun: Sendable {
  struct State {
    var progress: LoopProgress
    /// The values of ended elements that others read; by index.
    var results: [ElementResult] = []
    var isOver = false
    /// The result of an element that neither succeeded nor failed and blocks the loop's dependents: a cancelled
    /// element takes precedence over one that could not run.
    var withheld: NodeResult?

    mutating func record(_ result: NodeResult) {
      guard result.blocksDependents, result.conclusion != .failure else { return }
      if withheld?.conclusion != .cancelled, withheld == nil || result.conclusion == .cancelled {
        withheld = result
      }
    }
  }

  let state: Mutex<State>
  /// A struct, because a bare closure would be wrapped again on each access through a mutex.
  private struct Starter {
    let start: @Sendable () -> Void
  }

  /// Starts the elements that may start now.
  private let starter = Mutex<Starter?>(nil)

  init(_ progress: LoopProgress) {
    state = Mutex(State(progress: progress))
  }

  func setStarter(_ start: @escaping @Sendable () -> Void) {
    starter.withLock { $0 = Starter(start: start) }
  }

  func start() { starter.withLock { $0 }?.start() }

  /// Starts nothing any more.
  func end() { starter.withLock { $0 = nil } }

  func stepQueued() { state.withLock { $0.progress.stepsWaiting(1) } }

  func stepAnswered() {
    state.withLock { $0.progress.stepsWaiting(-1) }
    start()
  }
}

/// The result of an element that has ended.
struct ElementResult: Sendable {
  let index: Int
  let key: String
  let values: NodeValues
}
