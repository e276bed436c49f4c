import WeftDefinition
import WeftPlanning
import WeftRecord

struct RunInvocation: Sendable, Hashable {
  let file: String
  /// `nil` for the workflow's own value.
  let maxParallel: Int?
  /// `nil` for the workflow's own value.
  let onFailure: FailureResponse?
  let isStrict: Bool
  /// The directory to change to before anything else.
  let directory: String?
  /// `nil` for the workflow's own value.
  let timeout: Duration?
  let events: EventsTarget?
  let containment: ContainmentChoice
  let recording: RecordingChoice
  /// The state directory; `nil` for that in the environment, or in the directory where the run starts.
  let stateDirectory: String?
  /// Whether cached results replace running a step.
  let readsCache: Bool
  /// `nil` for the default.
  let cacheLimit: ByteCount?
  /// The number of runs to keep.
  let keptRuns: Int
  let isDryRun: Bool
  let choice: StepChoice
  /// `nil` for the engine's default.
  let retryBudgetPercent: Int?
  let inputs: InputOptions

  /// - Parameter file: `nil` if the command has none.
  init(_ parsed: ParsedArguments, file: String?) throws(UsageError) {
    self.file = file ?? ""
    maxParallel = try parsed.count(of: .jobs, in: 1...WorkflowLimits.maxParallel)
    onFailure =
      parsed.isGiven(.keepGoing) ? .continue : parsed.isGiven(.failFast) ? .cancel : nil
    isStrict = parsed.isGiven(.strictRun)
    directory = parsed.value(of: .directory)
    timeout = try parsed.duration(of: .timeout)
    events = try parsed.eventsTarget(of: .events)
    containment = try parsed.word(of: .containment) ?? .auto
    recording = try parsed.word(of: .record) ?? .process
    stateDirectory = parsed.value(of: .stateDirectory)
    readsCache = !parsed.isGiven(.noCache)
    cacheLimit = try parsed.cacheLimit()
    keptRuns =
      try parsed.count(of: .keepAfterRun, in: 1...1_000_000) ?? CleaningPolicy.defaultCount
    isDryRun = parsed.isGiven(.dryRun)
    choice = parsed.choice
    retryBudgetPercent = try parsed.count(of: .retryBudget, in: ValueRule.retryBudgetPercent)
    inputs = try InputOptions(parsed)
  }
}

/// The value of `--containment`.
enum ContainmentChoice: String, Sendable, Hashable {
  case auto, cgroup, subreaper
  case groupAndCookie = "group+cookie"
}

/// The value of `--record`.
enum RecordingChoice: String, Sendable, Hashable {
  case none, process, power
}

/// The destination of `--events`.
enum EventsTarget: Sendable, Hashable {
  case standardOutput
  /// Created, or truncated.
  case file(String)
  /// A descriptor that the caller has opened.
  case descriptor(Int32)
}

/// The arguments of `weft resume`.
struct ResumeInvocation: Sendable, Hashable {
  /// An ID or its beginning; `nil` for the latest run.
  let run: String?
  /// The settings shared with `weft run`.
  let settings: RunInvocation
  let acceptsChanges: Bool
  /// Whether the recorded directory and file are used without checking their location.
  let trustsRecord: Bool
  let salvages: Bool
  /// The steps, groups and elements to rerun.
  let rerun: [String]
  let rerunsInterrupted: Bool
  let skipsInterrupted: Bool
  /// The steps and groups to rerun along with their dependents.
  let from: [String]

  init(_ parsed: ParsedArguments) throws(UsageError) {
    run = parsed.operands.first
    settings = try RunInvocation(parsed, file: nil)
    acceptsChanges = parsed.isGiven(.acceptChanges)
    trustsRecord = parsed.isGiven(.trustRecord)
    salvages = parsed.isGiven(.salvage)
    rerun = parsed.values(of: .rerun)
    rerunsInterrupted = parsed.isGiven(.rerunInterrupted)
    skipsInterrupted = parsed.isGiven(.skipInterrupted)
    from = parsed.values(of: .resumeFrom)
  }
}
