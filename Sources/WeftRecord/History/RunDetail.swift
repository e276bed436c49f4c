package import WeftEvents
package import WeftExecution
package import WeftJSON
package import WeftPlanning
import WeftPlatform

/// The complete recorded state of a run, for inspection.
package struct RunDetail: Sendable {
  package let run: RunID
  package let state: RecordedState
  package let recorded: RunState
  /// The damage at which reading stopped.
  package let damage: JournalError?
  /// The path of the run's folder in messages.
  package let folder: String
  /// The answers that no engine has taken yet, the last one to each step: whether it approves.
  package let answers: [StepAddress: Bool]
  /// Whether the engine that resumes the suspended run will cancel it, as `weft cancel` requested.
  package let isToBeCancelled: Bool

  /// - Parameter requests: The requests that no engine has taken yet and that are due, oldest first.
  package init(
    _ run: RunID, _ state: RecordedState, _ recorded: RunState,
    damage: JournalError? = nil, folder: String, requests: [ControlRequest] = []
  ) {
    self.run = run
    self.state = state
    self.recorded = recorded
    self.damage = damage
    self.folder = folder
    answers = requests.reduce(into: [:]) { answers, request in
      switch request {
      case .approve(let step): answers[step] = true
      case .reject(let step): answers[step] = false
      case .cancel, .kill: break
      }
    }
    isToBeCancelled = state == .waiting && requests.contains { $0.answeredStep == nil }
  }

  /// The steps in the order of their first records, without outdated ones.
  package var steps: some Sequence<RecordedSteps.Element> {
    recorded.steps.lazy.filter { !$0.step.isOutdated }.map {
      (address: $0.address, step: $0.step.shown)
    }
  }

  /// Returns the path of a step's log, which exists if the step wrote anything.
  package func logPath(of step: StepAddress) -> String {
    "\(folder)/\(RunFolder.logsName)/\(LogFolder.fileName(of: step))"
  }
}

extension RunDetail {
  /// The steps that wait for approval and can still be answered, and their messages, in journal order. None can in a run
  /// that is to be cancelled.
  package func questions(at now: WallTime) -> [ApprovalRequest] {
    if isToBeCancelled { return [] }
    return recorded.steps.compactMap { address, step in
      guard step.isAsking, !step.isTooLate(at: now), let message = step.question else { return nil }
      return ApprovalRequest(step: address, message: message)
    }
  }
}

extension StateDirectory {
  /// Reads the whole journal of a run regardless of its lock. Changes nothing.
  ///
  /// - Parameter visit: Called with each record, in order.
  package func detail(
    of run: RunID, limits: JournalLimits = JournalLimits(),
    visiting visit: (RunRecord) -> Void = { _ in }
  ) throws(RunFolderError) -> RunDetail {
    let directory = try folder(of: run)
    // Checked first: if no engine holds the run now, the journal is final when it is read.
    let isHeld = try RunFolder.isHeld(directory)
    let contents = try RunFolder.contents(of: run, in: self, limits: limits, visiting: visit)
    guard contents.lines > 0 || contents.damage != nil else {
      throw .missingOpening(
        run, journal: "\(directory.path)/\(RunFolder.journalName)", bytes: contents.tornBytes)
    }
    return RunDetail(
      run, contents.damage == nil ? contents.run.state(isHeld: isHeld) : .damaged, contents.run,
      damage: contents.damage, folder: directory.path,
      requests: contents.run.steps.contains(where: \.step.isAsking)
        ? RunFolder.requests(in: directory, dueAfter: contents.run) : [])
  }
}

/// The predicted effect of `weft resume`, as far as the journal shows.
package struct ResumeAdvice: Sendable, Hashable {
  /// The steps that are known to run again, in journal order.
  package var again: [StepAddress] = []
  /// The steps in doubt: they run again only if the user allows it, or, if the plan is not known, if they are safe to
  /// repeat.
  package var inDoubt: [StepAddress] = []
  /// The number of steps without a record, those of all elements of started loops included, without the members of what
  /// was skipped as a whole.
  package var unlisted = 0

  /// - Parameter forecast: `nil` if the plan of the run is not known: then groups that succeeded in spite of a failure do
  ///   not count, and neither does what has to run again for other steps.
  package init(_ detail: RunDetail, _ forecast: ResumeForecast? = nil) {
    if detail.state == .success { return }
    let plan = forecast?.plan
    let known = Set(forecast?.interrupted ?? detail.recorded.inDoubt)
    var forecast = detail.state == .running ? nil : forecast
    for (address, step) in detail.recorded.steps {
      if known.contains(address) {
        inDoubt.append(address)
      } else if forecast?.startsAgain(address, step.shown) ?? step.shown.restarts {
        again.append(address)
      }
    }
    unlisted = max(0, (detail.recorded.stepCount(plan) ?? 0) - detail.recorded.steps.count)
  }
}

extension RecordedStep {
  /// Whether it is not done, except by a decision of the workflow or an option of the run.
  fileprivate var restarts: Bool {
    switch state {
    case .finished(let end, _): end.conclusion != .success && end.cancellation?.isDecision != true
    case .skipped(.cancelled(let reason)): !reason.isDecision
    case .skipped(.condition), .skipped(.notSelected): false
    case .skipped, .queued, .started, .retrying: true
    }
  }
}

/// The complete recorded state of a run as one JSON object, for programs.
///
/// `format` is 1 and changes when a reader of the old format would misunderstand the new one. Members have the same
/// names as in events; unknown values are omitted.
package enum RunDetailJSON {
  package static let format = 1

  /// Returns indented JSON with a line end.
  ///
  /// - Parameter plan: The plan of the run, by which ``ResumeAdvice`` is exact.
  package static func rendered(_ detail: RunDetail, _ plan: Plan? = nil) -> [UInt8] {
    var json = EventJSON(version: WeftVersion.current, style: .pretty)
    json.object { $0.write(detail, plan) }
    json.writer.endLine()
    return json.writer.bytes
  }
}

extension EventJSON {
  fileprivate mutating func object(_ body: (inout EventJSON) -> Void) {
    writer.beginObject()
    body(&self)
    writer.endObject()
  }

  fileprivate mutating func write(_ detail: RunDetail, _ plan: Plan?) {
    let recorded = detail.recorded
    writer.member("format", RunDetailJSON.format)
    writer.member("run", detail.run.text)
    writer.member("state", detail.state.rawValue)
    writer.member("workflow", recorded.opening?.workflow)
    writer.member("file", recorded.opening?.file)
    writer.member("directory", recorded.lastOpening?.directory)
    writer.member("user", recorded.opening?.user)
    writer.member("startedAt", recorded.startedAt.map(WireClock.text(of:)))
    writer.member("lastRecordAt", recorded.lastAt.map(WireClock.text(of:)))
    writer.member("durationUs", recorded.duration.wholeMicroseconds)
    writer.member("resumptions", recorded.resumptions)
    writer.parts(recorded.parts)
    writer.usage(recorded.usage)
    writer.values("inputs", recorded.opening?.inputs ?? [])
    writer.values("keptState", recorded.opening?.state ?? [])
    writer.member("folder", detail.folder)
    writer.member("damage", detail.damage?.message)
    writer.key("steps")
    writer.beginArray()
    var forecast = plan.map { ResumeForecast($0, recorded) }
    for (address, step) in detail.steps {
      object { $0.write(step, at: address, detail, &forecast) }
    }
    writer.endArray()
    writer.loops(detail.recorded.loops)
    writer.advice(ResumeAdvice(detail, forecast), cancels: detail.isToBeCancelled)
    if let end = recorded.end {
      writer.key("end")
      object { $0.write(end) }
    }
  }

  private mutating func write(
    _ step: RecordedStep, at address: StepAddress, _ detail: RunDetail,
    _ forecast: inout ResumeForecast?
  ) {
    writer.member("step", address.text)
    writer.member("startedAt", step.startedAt.map(WireClock.text(of:)))
    switch step.state {
    case .queued:
      writer.member("state", "queued")
      var reason = step.waitReason
      code(&reason)
    case .started where step.isAsking:
      writer.member("state", "asking")
      writer.member("message", step.question ?? "")
      writer.member("answer", detail.answers[address].map { $0 ? "approved" : "rejected" })
    case .started where step.waitsUntil != nil && detail.state != .running:
      writer.member("state", "waiting")
      writer.member("until", step.waitsUntil.map(WireClock.text(of:)))
    case .started(let attempt):
      let present = step.isSubmitted ? "submitted" : "running"
      writer.member("state", detail.state == .running ? present : "inDoubt")
      writer.member("attempt", attempt)
    case .retrying(let retry):
      writer.member("state", "retrying")
      write(retry)
    case .skipped(let reason):
      writer.member("state", "skipped")
      write(reason)
    case .finished(let end, _) where step.isServing:
      let service = ReadyService(in: detail.state)
      writer.member("state", service.rawValue)
      if service == .ready {
        write(end)
      } else {
        writer.member("attempt", end.attempts)
        writer.member("readyUs", end.duration.wholeMicroseconds)
      }
    case .finished(let end, _):
      writer.member("state", step.isCached ? "cached" : "finished")
      write(end)
      if end.outcome == .failure, end.conclusion == .failure {
        writer.member("toleratedBy", forecast?.groupTolerating(address)?.text)
      }
    }
    if step.mayHaveWritten { writer.member("log", detail.logPath(of: address)) }
  }
}

extension JSONWriter {
  /// Writes the inputs or the state of a run, if there are any; only the names of secret ones.
  package mutating func values(_ key: StaticString, _ values: [ReportedOutput]) {
    if values.isEmpty { return }
    array(key) {
      for named in values {
        $0.object {
          $0.member("name", named.name)
          guard let value = named.value else { return }
          $0.key("value")
          $0.value(value)
        }
      }
    }
  }

  /// Writes the parts of a resumed run under each engine.
  fileprivate mutating func parts(_ parts: [RecordedPart]) {
    if parts.count < 2 { return }
    array("parts") {
      for part in parts {
        $0.object {
          $0.member("startedAt", WireClock.text(of: part.startedAt))
          $0.member("durationUs", part.duration.wholeMicroseconds)
        }
      }
    }
  }

  fileprivate mutating func usage(_ usage: RunUsage) {
    object("totals") {
      $0.member("attempts", usage.attempts)
      $0.member("processorUs", usage.processorTime.wholeMicroseconds)
      $0.member("peakMemoryBytes", usage.peakMemoryBytes)
      $0.member("outputBytes", Int(clamping: usage.outputBytes))
    }
  }

  /// Writes the number of elements of each loop, and how many of them have not begun.
  fileprivate mutating func loops(_ loops: [RecordedLoop]) {
    if loops.isEmpty { return }
    array("loops") {
      for loop in loops {
        $0.object {
          $0.member("group", loop.address.text)
          $0.member("elements", loop.elements)
          $0.member("notStarted", loop.notStarted > 0 ? loop.notStarted : nil)
        }
      }
    }
  }

  fileprivate mutating func advice(_ advice: ResumeAdvice, cancels: Bool) {
    object("resume") {
      if cancels { $0.member("cancels", true) }
      $0.array("again", of: advice.again.map(\.text))
      $0.array("inDoubt", of: advice.inDoubt.map(\.text))
      $0.member("unmentioned", advice.unlisted)
    }
  }
}

extension RecordedStep {
  /// Whether it may have a log.
  package var mayHaveWritten: Bool {
    switch state {
    case .finished(let end, _): end.logBytes > 0
    case .started, .retrying: !isAsking
    case .queued, .skipped: false
    }
  }

  /// Whether it has a log, unless something removed it.
  package var hasWritten: Bool {
    if case .finished(let end, _) = state { end.logBytes > 0 && !isCached } else { false }
  }
}
