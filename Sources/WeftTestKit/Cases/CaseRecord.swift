import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Everything that a run of a case has done: events, attempts and requests, at virtual times since the start of the
/// case.
struct CaseRecord: Sendable {
  /// One attempt as it was about to be made.
  struct Attempt: Sendable {
    let address: StepAddress
    let number: Int
    /// `nil` unless it runs a command.
    var command: ResolvedCommand?
    var requests: [Request] = []
  }

  /// A command with values in place of expressions.
  struct ResolvedCommand: Sendable {
    let text: StepExpectation.RunText
    let environment: EnvironmentBlock
    let directory: String?
    let stdin: Input
  }

  /// The standard input of a command.
  enum Input: Sendable, Hashable {
    case none
    case text(String)
    /// A path.
    case file(String)
  }

  struct Request: Sendable {
    let method: String
    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]
  }

  /// The time during which an attempt ran; an approval and a wait count as attempts.
  struct Span: Sendable, Hashable {
    let start: Duration
    /// Its position in the order of all events, since several happen at the same time.
    let first: Int
    /// `nil` if the engine was gone before its end.
    var end: Duration?
    var last: Int?
  }

  /// A step of the run.
  struct StepRecord: Sendable {
    var spans: [Span] = []
    /// The number of retries.
    var retries = 0
    /// All ends, over all attempts of the groups around it and all engines.
    var states: [StepState] = []
    var state: StepState? { states.last }
  }

  /// An attempt without a scripted result.
  struct Unscripted: Sendable, Hashable {
    let address: StepAddress
    /// The number of engines before the one under which it was made.
    let engine: Int
    /// The act that was refused: a clause without subject.
    let act: String
    /// The key that is missing, or incomplete.
    let help: String
  }

  var seed: UInt64 = 0
  var attempts: [Attempt] = []
  var unscripted: [Unscripted] = []
  var steps: [StepAddress: StepRecord] = [:]
  var groups: [StepAddress: GroupRecord] = [:]
  /// The addresses of all steps and groups, in the order in which they were first mentioned.
  var addresses: [StepAddress] = []
  var end: RunEnd?
  /// The state that the run has kept.
  var state: [ReportedOutput] = []
  var pause: RunPause?
  var exitCode: Int32 = 0
  /// The time that all engines have taken, without the pauses between them.
  var duration = Duration.zero
  /// The number of engines that have ended.
  private(set) var endedEngines = 0
  /// The time at which the run of the current engine ended, since its start.
  private var engineDuration: Duration?
  /// The reason why the run has no end.
  var fault: Fault?
  /// The interruptions whose moments never came.
  var missed: [Missed] = []
  /// Whether the run had ended before the record at which it was to be interrupted.
  var isPastEnd = false
  /// Whether the case was stopped from outside.
  var isStopped = false
  private var eventCount = 0
  private var mentioned: Set<StepAddress> = []
  /// The patterns of scripts that were used, by their locations.
  var usedScripts: Set<String> = []

  struct Fault: Sendable {
    /// A sentence.
    let message: String
    /// The part of the case at fault; `nil` for the whole.
    var range: SourceRange?
  }

  /// An interruption whose moment never came.
  struct Missed: Sendable {
    let interruption: TestInterruption
    let endedAfter: Duration
    let records: Int
  }

  struct GroupRecord: Sendable {
    var spans: [Span] = []
    /// All ends, over all attempts of the groups around it and all engines.
    var ends: [GroupEnd] = []
    var end: GroupEnd? { ends.last }
    /// The number of retries of the whole group.
    var retries = 0
  }

  var outcome: TestExpectations.Outcome? {
    if pause != nil { return .waiting }
    return switch end?.outcome {
    case .success?: .success
    case .failure?: .failure
    case .cancelled?: .cancelled
    case .skipped?, nil: nil
    }
  }

  // MARK: Events

  /// Adds an event of an engine that started at `offset`.
  mutating func take(_ event: RunEvent, startedAt offset: Duration) {
    let now = offset + event.elapsed
    eventCount += 1
    switch event.kind {
    case .stepQueued(let step, _, _): mention(step)
    case .stepStarted(let step, _, _):
      mention(step)
      steps[step, default: StepRecord()].spans.append(Span(start: now, first: eventCount))
    case .stepRetrying(let step, _):
      close(step, at: now)
      steps[step]?.retries += 1
    case .stepFinished(let step, let end):
      close(step, at: now)
      settle(step, .finished(end))
    case .stepRestored(let step, let end): settle(step, .restored(end))
    case .stepCached(let step, let end): settle(step, .cached(end))
    case .stepSkipped(let step, let reason): settle(step, .skipped(reason))
    case .groupStarted(let group, _):
      mention(group)
      groups[group, default: GroupRecord()].spans.append(
        Span(start: now, first: eventCount))
    case .groupRetrying(let group, _):
      closeGroup(group, at: now)
      groups[group, default: GroupRecord()].retries += 1
    case .groupFinished(let group, let end):
      closeGroup(group, at: now)
      groups[group, default: GroupRecord()].ends.append(end)
    case .runFinished(let end):
      self.end = end
      engineDuration = event.elapsed
    case .runWaiting(let pause):
      self.pause = pause
      engineDuration = event.elapsed
    case .runStarted:
      (end, pause) = (nil, nil)
    case .stepBegun, .stepAsking, .stepWaiting, .stepOutput, .stepProgress, .stepReady, .runWarning,
      .runCancelling,
      .outputDropped,
      .snapshot:
      break
    }
  }

  /// Adds the time of an engine.
  ///
  /// - Parameter goneAt: The time at which it was cut off.
  mutating func endEngine(startedAt start: Duration, goneAt: Duration?, now: Duration) {
    duration += goneAt.map { $0 - start } ?? engineDuration ?? now - start
    engineDuration = nil
    endedEngines += 1
  }

  private mutating func mention(_ address: StepAddress) {
    if mentioned.insert(address).inserted { addresses.append(address) }
  }

  private mutating func settle(_ step: StepAddress, _ state: StepState) {
    mention(step)
    steps[step, default: StepRecord()].states.append(state)
  }

  private mutating func close(_ step: StepAddress, at now: Duration) {
    guard let last = steps[step]?.spans.indices.last else { return }
    steps[step]?.spans[last].end = now
    steps[step]?.spans[last].last = eventCount
  }

  private mutating func closeGroup(_ group: StepAddress, at now: Duration) {
    guard let last = groups[group]?.spans.indices.last else { return }
    groups[group]?.spans[last].end = now
    groups[group]?.spans[last].last = eventCount
  }

  /// The spans of a step or group.
  func spans(of address: StepAddress) -> [Span] {
    steps[address]?.spans ?? groups[address]?.spans ?? []
  }
}
