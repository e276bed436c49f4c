import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks the events of a run against the guarantees of SPEC §1.3, §5 and §6. It reads the workflow and the events; it
/// knows the rules but not the engine.
///
/// Files of this type: results so far (RunChecker+Knowledge), starts (RunChecker+Starting), skip reasons
/// (RunChecker+Skipping), start order (RunChecker+Turns), attempts (RunChecker+Attempts), groups and loops
/// (RunChecker+Groups), values that cannot be computed (RunChecker+Errors), slots and pools (Capacity), cleanup and the end of the run (RunChecker+Closing,
/// RunChecker+End).
struct RunChecker {
  /// The state of a step, group, loop or element.
  struct State {
    enum Phase { case waiting, queued, running, pausing, ended }

    var phase = Phase.waiting
    var queuedAt = Duration.zero
    var attempt = 0
    /// The start of the first attempt, and of the latest.
    var (began, startedAt) = (Duration.zero, Duration.zero)
    /// The index of its record among all attempts.
    var record = -1
    /// The time at which the next attempt is due.
    var resumesAt = Duration.zero
    /// The number of retries by each policy.
    var retries: [Int: Int] = [:]
    var end: End?
    /// For a group or loop: the members that have succeeded, in order, and the number of failed elements.
    var successes: [Subject] = []
    var failures = 0
    /// For a group: the time at which the last of its members so far ended, or was ready if it is a service. Cleanups and the
    /// ends of services do not count for its time limit.
    var membersEndedAt: Duration?
    /// For a service: whether it has been ready, and whether it is up now.
    var (hasBeenReady, isUp) = (false, false)
    /// Whether a service that it needs had failed when it was decided.
    var lackedService = false
    /// For a step: whether its condition could not be computed when it was queued; `nil` if that is not certain.
    var error: Bool? = false
    /// Whether it fails at its start, because a condition, list or other value cannot be computed.
    var failsAtStart = false
  }

  enum End {
    case step(StepEnd)
    case group(GroupEnd)
    case skip(SkipReason)
  }

  /// A check that failed when its event was reported; it may become true before time moves on.
  struct Doubt {
    let message: String
    let isTrue: (RunChecker) -> Bool
  }

  let simulation: Simulation
  let blueprint: Blueprint
  var violations: [String] { findings.violations }
  private let findings = Findings()
  var now = Duration.zero
  var states: [Subject: State] = [:]
  /// The scopes in which a failure keeps new steps from starting; `nil` for the run.
  var held: Set<Subject?> = []
  /// The scopes that are being ended, and why.
  var cancelled: [Subject?: Set<CancelReason>] = [:]
  /// The times at which races and early joins were decided.
  var decided: [Subject?: Duration] = [:]
  var capacity: Capacity
  let priorities: Priorities
  var closing = Closing()
  /// Whether the run had failed before `finally` began.
  var runHadFailed = false
  /// The failures that reached the run, in order: the address to name, and the time.
  var causingSteps: [(address: StepAddress, at: Duration)] = []
  var counts = OutcomeTally()
  /// The latest reported state of each address.
  var reported: [StepAddress: StepState] = [:]
  var startedAttempts: [(address: StepAddress, number: Int)] = []
  var runCancellation: CancelReason?
  var end: RunEnd?
  var doubts: [Doubt] = []
  /// The number of values read.
  var readings = 0
  private var spots: [StepAddress: Subject] = [:]
  /// The number of the current event, and those of the starts of steps that fail instead of being run.
  private(set) var sequence: UInt64 = 0
  let deadlocks: Set<UInt64>
  /// The numbers of the starts of steps, groups and loops that fail by a value of their own that cannot be computed.
  let errors: Set<UInt64>

  init(_ simulation: Simulation) {
    self.simulation = simulation
    blueprint = Blueprint(simulation.made)
    capacity = Capacity(simulation)
    priorities = Priorities(of: simulation)
    deadlocks = RunChecker.deadlocks(in: simulation.events)
    errors = RunChecker.errors(in: simulation.events)
    for leaks in simulation.leaks { require(false, leaks) }
    for (index, event) in simulation.events.enumerated() {
      require(event.sequence == UInt64(index + 1), "a gap before \(event.sequence)")
      sequence = event.sequence
      if event.elapsed > now { moveOn(to: event.elapsed) }
      require(end == nil, "an event after the end: \(event.kind)")
      check(event.kind)
      settleDoubts()
    }
    settleDoubts(finally: true)
    checkEnd()
  }

  private static func deadlocks(in events: [RunEvent]) -> Set<UInt64> {
    var (starts, found) = ([StepAddress: UInt64](), Set<UInt64>())
    for event in events {
      switch event.kind {
      case .stepStarted(let step, _, _): starts[step] = event.sequence
      case .stepFinished(let step, let end) where end.failure?.classes == [.limit]:
        if let start = starts[step] { found.insert(start) }
      default: break
      }
    }
    return found
  }

  /// The violations, in a class of their own so that a message may read the checker's state.
  private final class Findings {
    var violations: [String] = []
  }

  func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { findings.violations.append("\(message()) (at \(now))") }
  }

  /// Records a violation unless the check holds by the time the clock moves on: decisions of one moment are not always
  /// reported in the order in which they were made.
  mutating func requireSoon(_ message: String, _ isTrue: @escaping (RunChecker) -> Bool) {
    if !isTrue(self) { doubts.append(Doubt(message: message, isTrue: isTrue)) }
  }

  private mutating func settleDoubts(finally isLast: Bool = false) {
    guard !doubts.isEmpty else { return }
    let open = doubts.filter { !$0.isTrue(self) }
    doubts = isLast ? [] : open
    if isLast { for doubt in open { require(false, doubt.message) } }
  }

  /// Closes a moment: everything that could happen in it has happened.
  private mutating func moveOn(to time: Duration) {
    settleDoubts(finally: true)
    requireNobodyIdle()
    requireStops()
    now = time
  }

  private mutating func check(_ kind: RunEvent.Kind) {
    switch kind {
    case .runStarted: require(states.isEmpty, "the run starts late")
    case .stepQueued(let step, _, _): at(step) { $0.queued($1) }
    case .stepStarted(let step, let attempt, _): at(step) { $0.started($1, attempt: attempt) }
    case .stepRetrying(let step, let retry): at(step) { $0.retrying($1, retry) }
    case .stepFinished(let step, let end): at(step) { $0.finished($1, end) }
    case .stepSkipped(let step, let reason): at(step) { $0.skipped($1, reason) }
    case .groupStarted(let group, let start): at(group) { $0.groupStarted($1, start) }
    case .groupRetrying(let group, let retry): at(group) { $0.groupRetrying($1, retry) }
    case .groupFinished(let group, let end): at(group) { $0.groupFinished($1, end) }
    case .runCancelling(let reason):
      require(runCancellation == nil, "the run is cancelled again")
      runCancellation = reason
      if case .failure = reason { break }
      if case .runTimeout = reason {
        require(
          topLevel.contains { result($0) == nil }, "the run's time limit ends its cleanups")
      }
      cancelled[nil, default: []].insert(reason)
    case .runFinished(let end): self.end = end
    case .stepAsking(let step, let message): at(step) { $0.asking($1, message) }
    case .stepWaiting(let step, let delay): at(step) { $0.waiting($1, for: delay) }
    case .stepReady(let step, let end): at(step) { $0.ready($1, end) }
    case .stepBegun, .stepOutput, .stepProgress, .stepRestored, .stepCached, .runWarning,
      .runWaiting, .outputDropped,
      .snapshot:
      require(false, "unexpected \(kind)")
    }
  }

  private mutating func at(_ address: StepAddress, _ check: (inout RunChecker, Subject) -> Void) {
    guard let subject = spots[address] ?? blueprint.subject(called: address.text) else {
      return require(false, "nobody is called \(address)")
    }
    spots[address] = subject
    if state(subject).phase == .waiting {
      states[subject, default: State()].lackedService = !failedServices(above: subject).isEmpty
    }
    check(&self, subject)
  }
}
