import Weft
import WeftEvents
import WeftPlanning
import WeftPlatform
import WeftReporting

/// `weft logs`: prints the output of steps: unchanged for one step, line by line for several.
struct LogsCommand: Subcommand {
  /// An ID or its beginning; `nil` for the latest run.
  private let run: String?
  /// Empty for all steps.
  private let steps: [String]
  private let follows: Bool
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) {
    // Steps without an ID are named by numbers, so a run needs at least its day.
    let namesRun = parsed.operands.first.map(RunID.mayBegin) ?? false
    run = namesRun ? parsed.operands.first : nil
    steps = Array(parsed.operands.dropFirst(namesRun ? 1 : 0))
    follows = parsed.isGiven(.followLogs)
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let runs = try RecordedRuns(in: place)
    let run = try runs.chosen(run)
    let (detail, logs) = try findRecorded(run, runs.state)
    let choice = try choice(in: detail, runs.state)
    guard follows else { return print(choice, detail, logs, console) }
    var session = LogFollowSession(choice, logs, console)
    return try session.follow(run, try followed(run, runs.state))
  }

  private func findRecorded(
    _ run: RunID, _ state: StateDirectory
  ) throws(CommandFailure) -> (RunDetail, RecordedLogs) {
    do throws(RunFolderError) {
      return (try state.detail(of: run), try RecordedLogs(of: run, in: state))
    } catch {
      throw CommandFailure(error)
    }
  }

  private func followed(_ run: RunID, _ state: StateDirectory) throws(CommandFailure) -> FollowedRun
  {
    do { return try FollowedRun(run, in: state, readsOutput: false) } catch {
      throw CommandFailure(error)
    }
  }

  private func choice(
    in detail: RunDetail, _ state: StateDirectory
  ) throws(CommandFailure) -> LogChoice {
    // The plan is needed only for named steps, which may not be in the journal yet.
    let plan =
      steps.isEmpty
      ? nil : RecordedPlan(detail.run, detail.recorded.lastOpening, in: state).plan
    return try LogChoice(steps, of: detail, plan)
  }

  private func print(
    _ choice: LogChoice, _ detail: RunDetail, _ logs: RecordedLogs, _ console: Console
  ) -> ExitCode {
    var isWhole = detail.damage == nil
    for step in choice.single.map({ [$0] }) ?? choice.steps {
      var reader = logs.reader(of: step)
      var printer = LogPrinter(console.output, of: step, isSingle: choice.single != nil)
      reader.read { printer.print($0) }
      printer.end()
      if console.output.isClosed { return .success }
      let note = LogRemark(step, in: detail, found: logs.byteCount(of: step))
      guard let note, choice.single != nil || note.isFault else { continue }
      console.output.flush()
      console.errors.write("weft: \(note.sentence)\n")
      isWhole = isWhole && !note.isFault
    }
    if let damage = detail.damage {
      console.report(CommandError(damage.message))
    }
    return isWhole ? .success : .broken
  }
}

/// Selects the steps whose logs are printed.
struct LogChoice {
  /// The addresses as given; empty for all.
  private let names: [StepAddress]
  /// The named steps, and the members of named groups, which have addresses of their own.
  private let wanted: Set<StepAddress>
  /// The retried groups around each name, each by the addresses that its instance may have.
  private let retried: [[[StepAddress]]]
  /// The steps in the journal, in its order.
  private let recorded: [StepAddress]

  /// - Parameter plan: Provides steps that have not begun, and the members of groups.
  /// - Throws: If a name does not exist.
  init(_ names: [String], of detail: RunDetail, _ plan: Plan?) throws(CommandFailure) {
    recorded = detail.recorded.steps.addresses
    var named: [StepAddress] = []
    var wanted: Set<StepAddress> = []
    for name in names {
      let members = plan?.members(of: name) ?? []
      guard let address = StepAddress(parsing: name),
        !members.isEmpty || recorded.contains(where: { $0.isInside(address) })
      else { throw LogChoice.unknown(name, of: detail, plan) }
      named.append(address)
      wanted.insert(address)
      wanted.formUnion(members)
    }
    self.names = named
    self.wanted = wanted
    retried = plan.map { plan in named.map { plan.retriedGroups(around: $0) } } ?? []
  }

  private static func unknown(_ name: String, of detail: RunDetail, _ plan: Plan?) -> CommandFailure
  {
    let known = detail.recorded.steps.map(\.address.text) + (plan?.addresses ?? [])
    return CommandFailure(
      .usage, "\"\(name)\" is not a step of run \(detail.run)",
      help: NearestName.step(name, among: known).asSuggestion
        ?? "\"weft show \(detail.run)\" lists the steps")
  }

  /// The step whose log is printed unchanged; `nil` if lines of several steps are mixed.
  var single: StepAddress? {
    guard names.count == 1, wanted.count == 1 else { return nil }
    return steps.allSatisfy { $0 == names[0] } ? names[0] : nil
  }

  /// The selected steps in the journal.
  var steps: [StepAddress] { recorded.filter(wants) }

  func wants(_ step: StepAddress) -> Bool {
    names.isEmpty || wanted.contains(step) || wanted.contains { step.isInside($0) }
  }

  /// Returns whether all named steps are among these, and no group around them is tried again.
  func isComplete(_ done: Set<StepAddress>) -> Bool {
    !names.isEmpty && names.allSatisfy(done.contains)
      && retried.joined().allSatisfy { $0.contains(where: done.contains) }
  }
}

extension Plan {
  /// Returns the steps that a name refers to: the step itself, or all in the group.
  fileprivate func members(of name: String) -> [StepAddress] {
    let members = try? stepsExcluded(by: StepChoice(skip: [name]))
    return members?.map { steps[$0].address } ?? []
  }

  /// The groups with `retry` around a step, each by the addresses that its instance around the step may have.
  fileprivate func retriedGroups(around step: StepAddress) -> [[StepAddress]] {
    let addresses = PlanAddresses(self)
    guard let group = addresses.innermostGroup(at: step) else { return [] }
    return allEnclosingGroups(ofGroup: group).compactMap { around in
      guard let owner = groups[around].step, !owner.control.retry.isEmpty else { return nil }
      return groups[around].address.map { addresses.instances(of: $0, around: step) }
    }
  }

  /// The addresses of steps and groups.
  fileprivate var addresses: [String] {
    steps.map(\.address.text) + groups.compactMap { $0.address?.text }
  }
}

/// A remark about a log besides its bytes.
struct LogRemark {
  let sentence: String
  /// Whether recorded output is missing.
  let isFault: Bool

  /// - Parameter found: The size of the log; `nil` if there is none.
  /// - Returns: `nil` if the log needs no remark.
  init?(_ step: StepAddress, in detail: RunDetail, found: Int?) {
    let name = "\"\(TerminalText.harmless(step.text))\""
    if detail.recorded.steps[step]?.isCached == true {
      self.init(
        found ?? 0 == 0
          ? "step \(name) was cached, and wrote nothing when it last ran"
          : "step \(name) was cached: this is its log from when it last ran")
      return
    }
    switch detail.recorded.steps[step]?.state {
    case nil, .queued?: self.init("step \(name) has not started")
    case .skipped(let reason)? where found == nil:
      self.init("step \(name) has not started: it was \(reason.outcome.rawValue)")
    case .finished(let end, _)?:
      let recorded = Int(clamping: end.logBytes)
      if found ?? 0 < recorded {
        self.init(
          "warning: the log of step \(name) is incomplete: \(recorded - (found ?? 0)) of its "
            + "\(recorded) bytes are missing", isFault: true)
      } else if end.outputTruncated {
        self.init(
          "the log of step \(name) was truncated at its limit: the step wrote "
            + "\(end.outputBytes) bytes")
      } else if found ?? 0 == 0 {
        self.init("step \(name) wrote nothing")
      } else {
        return nil
      }
    case .started?, .retrying?, .skipped?:
      guard found ?? 0 == 0 else { return nil }
      self.init("step \(name) has written nothing yet")
    }
  }

  private init(_ sentence: String, isFault: Bool = false) {
    self.sentence = sentence
    self.isFault = isFault
  }
}

/// Prints the log of one step: unchanged, or each line prefixed with the step's name.
///
/// A terminal would execute control characters in a log, so even the log of a single step is sanitized line by line
/// for it.
struct LogPrinter {
  private let port: OutputPort
  private var lines: LogLines?

  init(_ port: OutputPort, of step: StepAddress, isSingle: Bool) {
    self.port = port
    let settings = port.displaySettings
    lines = isSingle && !settings.isTerminal ? nil : LogLines(settings, of: isSingle ? nil : step)
  }

  /// - Returns: Whether the output is still read.
  mutating func print(_ piece: [UInt8]) -> Bool {
    port.write(lines?.take(piece) ?? piece)
    port.flush()
    return !port.isClosed
  }

  /// Prints an unterminated line; nothing more comes for now.
  mutating func end() {
    if let rest = lines?.takeRest() { port.write(rest) }
  }
}

/// Prints logs while they are written, until their steps or the run have ended.
struct LogFollowSession {
  private let choice: LogChoice
  private let logs: RecordedLogs
  private let console: Console
  private var open: [StepAddress: (reader: LogReader, printer: LogPrinter)] = [:]
  /// The steps that may write more.
  private var running: Set<StepAddress> = []
  private var done: Set<StepAddress> = []

  init(_ choice: LogChoice, _ logs: RecordedLogs, _ console: Console) {
    self.choice = choice
    self.logs = logs
    self.console = console
  }

  mutating func follow(_ run: RunID, _ followed: FollowedRun) throws(CommandFailure) -> ExitCode {
    for step in choice.steps { print(step) }
    var poller = RunPoller(followed)
    let wakeup = Wakeup()
    while !console.output.isClosed {
      if poller.isIdle { wakeup.wait(atMost: RunPoller.pause) }
      let finding = poller.poll { take($0) }
      for step in running { print(step) }
      switch finding {
      case .continues: break
      case .ended, .waits: return end()
      case .abandoned:
        _ = end()
        throw .abandoned(run)
      }
      if choice.isComplete(done) { return end() }
      console.output.flush()
    }
    return .success
  }

  private mutating func take(_ update: FollowedRun.Update) {
    guard case .happened(let events) = update else {
      // Another engine may start them again.
      done = []
      return
    }
    for event in events {
      switch event.kind {
      case .stepStarted(let step, _, _) where choice.wants(step):
        running.insert(step)
        done.remove(step)
      case .stepFinished(let step, _) where choice.wants(step):
        print(step)
        open[step]?.printer.end()
        open[step]?.reader.close()
        running.remove(step)
        done.insert(step)
      case .stepSkipped(let step, _), .stepRestored(let step, _), .stepCached(let step, _):
        done.insert(step)
      case .groupFinished(let group, _): done.insert(group)
      default: break
      }
    }
  }

  private mutating func print(_ step: StepAddress) {
    var (reader, printer) =
      open[step]
      ?? (
        logs.reader(of: step),
        LogPrinter(console.output, of: step, isSingle: choice.single != nil)
      )
    reader.read { printer.print($0) }
    if !running.contains(step) { reader.close() }
    open[step] = (reader, printer)
  }

  private mutating func end() -> ExitCode {
    for step in running { open[step]?.printer.end() }
    console.output.flush()
    return .success
  }
}
