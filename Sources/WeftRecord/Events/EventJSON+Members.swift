import WeftDefinition
import WeftExecution
import WeftJSON
import WeftPlanning

/// The members of each event type besides its number, time and type.
extension EventJSON {
  mutating func writeMembers(of kind: RunEvent.Kind) {
    switch kind {
    case .runStarted(let start): writeStart(start)
    case .stepQueued(let step, let pools):
      writer.member("step", step.text)
      if !pools.isEmpty { write(pools) }
    case .stepStarted(let step, let attempt):
      writer.member("step", step.text)
      writer.member("attempt", attempt)
    case .stepAsking(let step, let message): writeQuestion(step, message)
    case .stepWaiting(let step, let delay):
      writer.member("step", step.text)
      writer.member("delayUs", delay.wholeMicroseconds)
    case .stepOutput(let step, let output):
      writer.member("step", step.text)
      writeOutput(output)
    case .stepFinished(let step, let end), .stepRestored(let step, let end),
      .stepCached(let step, let end):
      writer.member("step", step.text)
      writeStepEnd(end)
    case .stepSkipped(let step, let reason):
      writer.member("step", step.text)
      writeSkip(reason)
    case .stepRetrying(let step, let retry):
      writer.member("step", step.text)
      writeRetry(retry)
    case .groupStarted(let group, let start):
      writer.member("group", group.text)
      writer.member("attempt", start.attempt)
      if let elements = start.elements { writer.member("elements", elements) }
      if start.isRestored { writer.member("restored", true) }
    case .groupRetrying(let group, let retry):
      writer.member("group", group.text)
      writeRetry(retry)
    case .groupFinished(let group, let end):
      writer.member("group", group.text)
      writeGroupEnd(end)
    case .runWarning(let warning): writeWarning(warning)
    case .runCancelling(let reason): writeReason("reason", reason)
    case .runFinished(let end): writeRunEnd(end)
    case .runWaiting(let pause): writePause(pause)
    case .outputDropped(let gap): writeGap(gap)
    case .snapshot(let report): writeSnapshot(report)
    }
  }

  private mutating func write(_ pools: [PoolRequest]) {
    writer.key("waitingFor")
    writer.beginObject()
    for pool in pools {
      writer.key(pool.pool)
      writer.value(.int(pool.slots))
    }
    writer.endObject()
  }

  private mutating func writeStart(_ start: RunStart) {
    writer.member("format", EventJSON.format)
    writer.member("weft", version)
    writer.member("run", start.run.text)
    if let workflow = start.workflow { writer.member("workflow", workflow) }
    if let file = start.file { writer.member("file", file) }
    writer.member("steps", start.stepCount)
    writer.member("groups", start.groupCount)
    writer.member("maxParallel", start.maxParallel)
    if let containment = start.containment {
      writer.member("containment", containment.rawValue)
    }
    writer.member("pid", Int(start.engineProcess))
    if start.resumption > 0 { writer.member("resumption", start.resumption) }
  }

  private mutating func writeWarning(_ warning: RunWarning) {
    writer.member("code", warning.kind.rawValue)
    writer.member("message", warning.message)
    if let help = warning.help { writer.member("help", help) }
  }

  mutating func writeRunEnd(_ end: RunEnd) {
    writer.member("outcome", end.outcome.rawValue)
    if let step = end.firstFailure { writer.member("firstFailure", step.text) }
    if let reason = end.cancellation { writeReason("cancellation", reason) }
    if let failure = end.failure { writeFailure(failure) }
    writer.member("durationUs", end.duration.wholeMicroseconds)
    writeCounts(end.counts)
    writeOutputs(end.outputs)
    writeProcesses("leftovers", end.leftovers)
    writeProcesses("unkillable", end.unkillable)
  }

  private mutating func writePause(_ pause: RunPause) {
    writer.key("requests")
    writer.beginArray()
    for request in pause.requests {
      writer.beginObject()
      writeQuestion(request.step, request.message)
      writer.endObject()
    }
    writer.endArray()
    writer.member("durationUs", pause.duration.wholeMicroseconds)
    writeCounts(pause.counts)
    writeProcesses("leftovers", pause.leftovers)
    writeProcesses("unkillable", pause.unkillable)
  }

  private mutating func writeQuestion(_ step: StepAddress, _ message: String) {
    writer.member("step", step.text)
    writer.member("message", message)
  }

  private mutating func writeCounts(_ counts: OutcomeCounts) {
    writer.key("counts")
    writer.beginObject()
    writer.member("succeeded", counts.succeeded)
    writer.member("failed", counts.failed)
    writer.member("tolerated", counts.tolerated)
    writer.member("cancelled", counts.cancelled)
    writer.member("skipped", counts.skipped)
    if counts.restored > 0 { writer.member("restored", counts.restored) }
    if counts.cached > 0 { writer.member("cached", counts.cached) }
    writer.endObject()
  }

  private mutating func writeGroupEnd(_ end: GroupEnd) {
    writer.member("outcome", end.outcome.rawValue)
    writer.member("conclusion", end.conclusion.rawValue)
    if let failure = end.failure { writeFailure(failure) }
    if let cause = end.cause { writer.member("cause", cause.text) }
    writer.member("attempts", end.attempts)
    if let winner = end.winner { writer.member("winner", winner.text) }
    if let elements = end.notStarted { write(elements) }
    writer.member("durationUs", end.duration.wholeMicroseconds)
    writeOutputs(end.outputs)
  }

  private mutating func write(_ elements: ElementsNotStarted) {
    writer.key("notStarted")
    writer.beginObject()
    writer.member("elements", elements.elements)
    writer.member("steps", elements.steps)
    writer.member("outcome", elements.outcome.rawValue)
    writer.endObject()
  }

  private mutating func writeGap(_ gap: OutputGap) {
    writer.member("dropped", gap.count)
    writer.member("first", Int(gap.sequences.lowerBound))
    writer.member("last", Int(gap.sequences.upperBound))
    writer.member("bytes", gap.bytes)
  }

  private mutating func writeSnapshot(_ report: RunReport) {
    writeStart(report.start)
    writer.member("startedAt", WireClock.text(of: report.start.startedAt))
    writer.key("states")
    writer.beginArray()
    for step in report.steps {
      writer.beginObject()
      writer.member("step", step.address.text)
      writeState(step.state)
      writer.endObject()
    }
    writer.endArray()
    if !report.groups.isEmpty { writeGroups(report.groups) }
    if !report.warnings.isEmpty { writeWarnings(report.warnings) }
    if let end = report.end {
      writer.key("end")
      writer.beginObject()
      writeRunEnd(end)
      writer.endObject()
    }
    if let pause = report.pause {
      writer.key("waiting")
      writer.beginObject()
      writePause(pause)
      writer.endObject()
    }
  }

  private mutating func writeGroups(_ groups: [GroupReport]) {
    writer.key("groupStates")
    writer.beginArray()
    for group in groups {
      writer.beginObject()
      writer.member("group", group.address.text)
      switch group.state {
      case .running(let since):
        writer.member("state", "running")
        writer.member("sinceUs", since.wholeMicroseconds)
        writer.member("attempt", group.start.attempt)
      case .retrying(let until):
        writer.member("state", "retrying")
        writer.member("attempt", group.start.attempt)
        writer.member("untilUs", until.wholeMicroseconds)
      case .finished(let end):
        writer.member("state", "finished")
        writeGroupEnd(end)
      }
      if let elements = group.start.elements { writer.member("elements", elements) }
      if group.start.isRestored { writer.member("restored", true) }
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func writeWarnings(_ warnings: [RunWarning]) {
    writer.key("warnings")
    writer.beginArray()
    for warning in warnings {
      writer.beginObject()
      writeWarning(warning)
      writer.endObject()
    }
    writer.endArray()
  }

  private mutating func writeState(_ state: StepState) {
    switch state {
    case .pending: writer.member("state", "pending")
    case .queued: writer.member("state", "queued")
    case .running(let since, let attempt):
      writer.member("state", "running")
      writer.member("sinceUs", since.wholeMicroseconds)
      writer.member("attempt", attempt)
    case .asking(let since, let message):
      writer.member("state", "asking")
      writer.member("sinceUs", since.wholeMicroseconds)
      writer.member("message", message)
    case .waiting(let since, let until):
      writer.member("state", "waiting")
      writer.member("sinceUs", since.wholeMicroseconds)
      writer.member("untilUs", until.wholeMicroseconds)
    case .retrying(let attempt, let until):
      writer.member("state", "retrying")
      writer.member("attempt", attempt)
      writer.member("untilUs", until.wholeMicroseconds)
    case .skipped(let reason):
      writer.member("state", "skipped")
      writeSkip(reason)
    case .finished(let end):
      writer.member("state", "finished")
      writeStepEnd(end)
    case .restored(let end):
      writer.member("state", "restored")
      writeStepEnd(end)
    case .cached(let end):
      writer.member("state", "cached")
      writeStepEnd(end)
    }
  }
}
