import WeftDefinition
import WeftPlanning
import WeftRecord

struct RunInvocation: Sendable, Hashable {
  let file: String
  /// `nil` leaves it to the workflow.
  let maxParallel: Int?
  /// `nil` leaves it to the workflow.
  let onFailure: FailureResponse?
  let isStrict: Bool
  /// Where to go before anything else.
  let directory: String?
  /// `nil` leaves it to the workflow.
  let timeout: Duration?
  let events: EventsTarget?
  let containment: ContainmentChoice
  let recording: RecordingChoice
  /// Where records are kept; `nil`: where the environment says, or in the directory where the run starts.
  let stateDirectory: String?
  /// Whether what steps have made before stands in for running them.
  let readsCache: Bool
  /// `nil`: the cache's own.
  let cacheLimit: ByteCount?
  /// How many runs stay recorded.
  let keptRuns: Int
  let isDryRun: Bool
  let choice: StepChoice
  /// `nil`: the engine's own.
  let retryBudgetPercent: Int?
  let inputs: InputOptions

  /// - Parameter file: `nil` where the command names none.
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

/// What `--containment` says.
enum ContainmentChoice: String, Sendable, Hashable {
  case auto, cgroup, subreaper
  case groupAndCookie = "group+cookie"
}

/// What `--record` says.
enum RecordingChoice: String, Sendable, Hashable {
  case none, process, power
}

/// Where `--events` writes.
enum EventsTarget: Sendable, Hashable {
  case standardOutput
  /// Created, or emptied.
  case file(String)
  /// One that the caller has opened.
  case descriptor(Int32)
}

/// What `weft resume` is to do.
struct ResumeInvocation: Sendable, Hashable {
  /// An id or the beginning of one; `nil`: the latest run.
  let run: String?
  /// What it has in common with a run that begins.
  let settings: RunInvocation
  let acceptsChanges: Bool
  /// Whether the directory and the file that the record names are used without a look at where they are.
  let trustsRecord: Bool
  let salvages: Bool
  /// Steps, groups and elements to be done again.
  let rerun: [String]
  let rerunsInterrupted: Bool
  let skipsInterrupted: Bool
  /// The same, with what depends on them.
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
