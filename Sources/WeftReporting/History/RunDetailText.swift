import WeftDefinition
import WeftDiagnostics
package import WeftEvents
import WeftExecution
import WeftJSON
package import WeftPlanning
package import WeftRecord

/// The complete recorded state of a run as text.
package struct RunDetailText: Sendable {
  private let text: DisplayText
  private let palette: Palette
  /// The arguments that identify the run to a command: its ID and its location.
  private let run: String
  /// The current time, for approvals that can only be given for some time.
  private let now: WallTime

  /// - Parameter run: The arguments that identify the run to a command.
  package init(_ settings: DisplaySettings, run: String, now: WallTime) {
    text = DisplayText(passesSGR: false, passesUnicode: settings.usesUnicode)
    palette = Palette(usesColour: settings.usesColour, usesUnicode: settings.usesUnicode)
    self.run = run
    self.now = now
  }

  /// Returns the text, with a line end after each line.
  ///
  /// - Parameter plan: The plan of the run, with which a run in progress also shows the steps that wait for others, and
  ///   one that has ended which steps are in doubt, and which failures were tolerated.
  package func rendered(_ detail: RunDetail, _ plan: Plan? = nil) -> String {
    var output = ""
    let show = { (lines: [String]) in
      for line in lines {
        output += line
        output += "\n"
      }
    }
    show(head(detail))
    if detail.recorded.steps.count > 0 { show([""]) }
    let surroundings = StepSurroundings(detail, plan)
    for (address, step) in detail.steps { show(lines(of: step, address, surroundings)) }
    var lines = detail.recorded.loops.filter { $0.notStarted > 0 }.map { loop in
      "\(palette.skipped) \(text.name(loop.address.text)): not started: "
        + "\(loop.notStarted) of \(Count(loop.elements, "element"))"
    }
    if let plan, detail.state == .running {
      lines += self.lines(of: PendingSteps(plan, detail.recorded).steps)
    }
    if let outputs = detail.recorded.end?.outputs, !outputs.isEmpty {
      lines += ["", "outputs"] + outputs.map { "  \(text.name($0.name)): \(shown($0.value))" }
    }
    lines += [""] + next(surroundings)
    show(lines)
    return output
  }

  // MARK: The run

  private func head(_ detail: RunDetail) -> [String] {
    let recorded = detail.recorded
    var lines = ["run \(detail.run): \(verdict(detail))"]
    let fact = { (name: String, value: String?) in
      guard let value else { return }
      lines.append("  " + name + String(repeating: " ", count: 10 - name.count) + value)
    }
    fact("workflow", recorded.opening?.workflow.map(text.name))
    fact("file", recorded.opening?.file.map(text.name))
    for input in recorded.opening?.inputs ?? [] {
      fact("input", "\(text.name(input.name)): \(shown(input.value))")
    }
    for variable in recorded.opening?.state ?? [] {
      fact("state", "\(text.name(variable.name)): \(shown(variable.value))")
    }
    let user = recorded.opening?.user.map { " by \(text.name($0))" } ?? ""
    fact("started", recorded.startedAt.map { "\(ShownMoment.text($0)) UTC\(user)" })
    for (index, part) in recorded.parts.enumerated() where recorded.resumptions > 0 {
      fact(
        "part \(index + 1)",
        "\(ShownMoment.text(part.startedAt)) UTC, for \(ShownDuration.precise(part.duration))")
    }
    fact("used", used(recorded.usage))
    fact("record", text.name(detail.folder))
    if let end = recorded.end {
      fact(
        "failed in",
        end.firstFailure.map { failed in
          let reason = recorded.groups[failed]?.ownFailure.map { ": " + text.name($0.message) }
          return "\"\(text.name(failed.text))\"" + (reason ?? "")
        })
      fact("failed", end.failure.map { text.name($0.message) })
      fact("cancelled", end.cancellation.map { text.name($0.sentence) })
    }
    for warning in recorded.warnings { fact("warning", text.name(warning.message)) }
    fact("damaged", detail.damage.map { text.name($0.message) })
    return lines
  }

  /// Returns `CPU 3.1 s, 45 MB at most, in 12 attempts`; `nil` if no program has ended.
  private func used(_ usage: RunUsage) -> String? {
    guard usage.processorTime > .zero else { return nil }
    let memory = usage.peakMemoryBytes.map { ", \(ShownSize.text($0)) at most" } ?? ""
    return "CPU \(ShownDuration.precise(usage.processorTime))\(memory), in "
      + "\(Count(usage.attempts, "attempt"))"
  }

  /// Returns `CPU 3.1 s, 45 MB of 2 GB`, with the memory that was requested, if any was.
  private func used(_ usage: ResourceUsage) -> String {
    let requested = usage.requestedMemoryBytes.map { " of \(ShownSize.text($0))" } ?? ""
    let memory = usage.peakMemoryBytes.map { ", \(ShownSize.text($0))\(requested)" } ?? ""
    return "CPU \(ShownDuration.precise(usage.processorTime))\(memory)"
  }

  private func verdict(_ detail: RunDetail) -> String {
    let duration = ShownDuration.precise(detail.recorded.duration)
    let after = " after \(duration)"
    return switch detail.state {
    case .success:
      palette.painted("success", .good) + " in \(duration)"
    case .failure: palette.painted("failure", .bad) + after
    case .cancelled: palette.painted("cancelled", .doubtful) + after
    case .interrupted: palette.painted("interrupted", .doubtful) + after
    case .running: palette.painted("running", .strong)
    case .waiting where detail.isToBeCancelled:
      palette.painted("cancelled on request, not cleaned up", .doubtful)
    case .waiting: palette.painted("waiting for approval", .doubtful)
    case .damaged: palette.painted("damaged", .bad) + ": this is the intact part before the damage"
    }
  }

  // MARK: Steps

  private func lines(
    of step: RecordedStep, _ address: StepAddress, _ surroundings: StepSurroundings
  ) -> [String] {
    let detail = surroundings.detail
    let name = text.name(address.text)
    var lines: [String]
    switch step.state {
    case .queued:
      let wait =
        detail.state == .running
        ? surroundings.waits.reason(of: step, at: address).phrase : "not started"
      lines = ["\(palette.skipped) \(name): \(text.name(wait))"]
    case .started where step.isAsking:
      lines = [
        "\(palette.cancelled) \(name): waits for approval: \(text.name(step.question ?? ""))"
      ]
      if let end = step.waitsUntil {
        let isOver = step.isTooLate(at: now)
        lines[0] += isOver ? "; its time was over at" : "; to be answered until"
        lines[0] += " \(surroundings.shown(end))"
      }
      if let approves = detail.answers[address] {
        lines[0] += "; \(approves ? "approved" : "rejected"), not yet taken up"
      }
    case .started where step.waitsUntil != nil && detail.state != .running:
      lines = [
        "\(palette.cancelled) \(name): waits"
          + (step.waitsUntil.map { " until \(surroundings.shown($0))" } ?? "")
      ]
    case .started:
      let attempt = step.attempt
      lines = [
        detail.state == .running
          ? "\(palette.margin) \(name): \(step.isSubmitted ? "submitted" : "running")\(attempt)"
          : "\(palette.cancelled) \(name): \(step.interruption)"
      ]
    case .retrying(let retry):
      lines = [
        "\(palette.tolerated) \(name): \(text.name(retry.failure.message)); \(retry.sentence)"
      ]
    case .skipped(let reason):
      lines = ["\(palette.skipped) \(name): \(text.name(reason.phrase(of: address)))"]
    case .finished(let end, _) where step.isCached:
      lines = [
        "\(palette.succeeded) \(name): cached (\(ShownDuration.precise(end.duration)) when it last ran)"
      ]
    case .finished(let end, _) where step.isServing:
      let duration = ShownDuration.precise(end.duration)
      let service = ReadyService(in: detail.state)
      lines = [
        service == .ready
          ? "\(palette.margin) \(name): running, ready after \(duration)"
          : "\(palette.cancelled) \(name): \(service.rawValue), was ready after \(duration)"
      ]
    case .finished(let end, _):
      lines = self.lines(
        of: end, called: name, surroundings.toleration(of: address, end),
        decision: surroundings.forecast?.decision(against: address, step))
    }
    if case .finished(let end, _) = step.state, !step.isCached {
      let facts = [end.host.map { "on \(text.name($0))" }, end.usage.map(used)]
      for fact in facts.compactMap(\.self) { lines[0] += palette.painted(", \(fact)", .faint) }
    }
    if let moment = step.startedAt, !step.isCached {
      lines[0] += palette.painted(", began \(surroundings.shown(moment))", .faint)
    }
    if step.needsLog { lines.append("    log: \(text.name(detail.logPath(of: address)))") }
    return lines
  }

  /// Returns lines such as `deploy: waits for "build"`; only the first of many.
  private func lines(of pending: [PendingSteps.Step]) -> [String] {
    let rest = pending.count - RunDetailText.pendingLimit
    let lines = pending.prefix(RunDetailText.pendingLimit).map { step in
      let name = text.name(step.address.text)
      return "\(palette.skipped) \(name): waits for \(named(step.waitsFor))"
    }
    return lines + (rest > 0 ? ["  and \(rest) more wait for other steps"] : [])
  }

  private static let pendingLimit = 20

  /// - Parameters:
  ///   - toleration: The reason why its failure does not count, in a few words.
  ///   - decision: That of a race or join which counts in place of the recorded cancellation.
  private func lines(
    of end: StepEnd, called name: String, _ toleration: String?, decision: CancelReason?
  ) -> [String] {
    let duration = ShownDuration.precise(end.duration)
    let attempt = end.attempts > 1 ? " (attempt \(end.attempts))" : ""
    let reason =
      end.failure?.message ?? (decision ?? end.cancellation)?.sentence ?? end.outcome.rawValue
    var lines: [String]
    switch end.outcome {
    case .success:
      let phrase = end.http?.phrase.map { ": \(text.name($0))" } ?? ""
      let approver = end.approvedBy.map { ", approved by \(text.name($0))" } ?? ""
      lines = [
        "\(palette.succeeded) \(name): succeeded in \(duration)\(attempt)\(phrase)\(approver)"
      ]
    case .failure:
      let tolerated = toleration.map { " (\(text.name($0)))" }
      lines = [
        "\(tolerated == nil ? palette.failed : palette.tolerated) \(name): failed"
          + "\(tolerated ?? "") after \(duration)\(attempt): \(text.name(reason))"
      ]
      if let help = end.failure?.help { lines.append("    help: \(text.name(help))") }
    case .cancelled, .skipped:
      lines = ["\(palette.cancelled) \(name): cancelled after \(duration): \(text.name(reason))"]
    }
    if let reason = end.ranBecause { lines.append("    ran because \(text.name(reason))") }
    return lines + end.outputs.map { "    \(text.name($0.name)): \(shown($0.value))" }
  }

  private func shown(_ value: JSONValue?) -> String {
    guard let value else { return palette.painted("*** (secret)", .faint) }
    return text.beginning(of: value.shownText, characters: RunDetailText.outputLimit)
  }

  private static let outputLimit = 200
}

extension RunDetailText {
  // MARK: Next steps

  private func next(_ surroundings: StepSurroundings) -> [String] {
    let detail = surroundings.detail
    let questions = detail.questions(at: now).filter { detail.answers[$0.step] == nil }
    switch detail.state {
    case .success: return ["next: nothing left to do"]
    case .running:
      return questions.map(answer)
        + ["next: \"weft show \(run) --follow\" follows it"]
    case .waiting where detail.isToBeCancelled:
      return ["next: \"weft resume \(run)\" cleans up and ends it"]
    case .waiting:
      let then = questions.isEmpty ? "" : " then"
      // Those that have not ended continue anyway.
      let again = ResumeAdvice(detail, surroundings.forecast).again.filter { step in
        if case .finished? = detail.recorded.steps[step]?.state { true } else { false }
      }
      let also = again.isEmpty ? "" : ", and starts \(named(again)) again"
      return questions.map(answer) + ["next: \"weft resume \(run)\" continues it\(then)\(also)"]
    case .damaged where detail.damage?.hasOtherFormat == true:
      return ["next: use the version of weft that wrote it"]
    case .damaged:
      return [
        "next: \"weft resume \(run) --salvage\" continues from the intact "
          + "part before the damage"
      ]
    case .failure, .cancelled, .interrupted: break
    }
    let advice = ResumeAdvice(detail, surroundings.forecast)
    var parts = advice.again.isEmpty ? [] : [named(advice.again)]
    if advice.unlisted > 0 {
      parts.append("\(Count(advice.unlisted, "step")) not started yet")
    }
    let what = parts.isEmpty ? "" : ": " + parts.joined(separator: " and ")
    var lines = ["next: \"weft resume \(run)\" continues it\(what)"]
    let unrecorded = advice.inDoubt.filter { detail.recorded.steps[$0]?.wasDone ?? false }
    let interrupted = advice.inDoubt.filter { !unrecorded.contains($0) }
    if !interrupted.isEmpty {
      lines.append(
        "      interrupted: \(named(interrupted)); those that are not idempotent rerun only with"
          + " --rerun-interrupted")
    }
    if !unrecorded.isEmpty {
      lines.append(
        "      succeeded, but values that others read are not recorded: \(named(unrecorded)); "
          + "rerun only with --rerun-interrupted or --rerun STEP")
    }
    return lines
  }

  private func answer(_ question: ApprovalRequest) -> String {
    "answer: weft approve \(run) \(ShellWord.quoted(TerminalText.harmless(question.step.text)))"
      + "  (or with --reject)"
  }

  private func named(_ steps: [StepAddress]) -> String {
    let rest = steps.count - RunDetailText.nameLimit
    let names = steps.prefix(RunDetailText.nameLimit).map { "\"\(text.name($0.text))\"" }
    return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  private static let nameLimit = 10
}

/// Facts about a run that many lines share.
private final class StepSurroundings {
  let detail: RunDetail
  let waits: RecordedWaits
  private let plan: Plan?
  lazy var forecast = plan.map { ResumeForecast($0, detail.recorded) }
  private let day: Substring?
  /// The last second that was shown, and its text: steps often begin in the same one.
  private var second: Int64?
  private var text = ""

  init(_ detail: RunDetail, _ plan: Plan?) {
    (self.detail, self.plan) = (detail, plan)
    waits = RecordedWaits(detail, plan)
    day = detail.recorded.startedAt.map { ShownMoment.text($0).prefix(10) }
  }

  /// Returns the reason why a failure does not count; `nil` if it does.
  func toleration(of step: StepAddress, _ end: StepEnd) -> String? {
    guard end.outcome == .failure else { return nil }
    if end.conclusion == .success { return "tolerated" }
    guard let group = forecast?.groupTolerating(step),
      let end = detail.recorded.groups[group]?.end
    else { return nil }
    return end.toleration(by: group)
  }

  /// Returns the time of a moment, with its date if that is not the one of the run's start.
  func shown(_ moment: WallTime) -> String {
    let second = moment.nanoseconds / 1_000_000_000
    if second != self.second {
      let shown = ShownMoment.text(moment)
      (self.second, text) = (second, shown.prefix(10) == day ? String(shown.suffix(8)) : shown)
    }
    return text
  }
}

extension RecordedStep {
  /// The number of a started attempt that is not the first, as in "running (attempt 2)".
  fileprivate var attempt: String {
    if case .started(let attempt) = state, attempt > 1 { " (attempt \(attempt))" } else { "" }
  }

  /// The state of a started step whose engine is gone.
  package var interruption: String {
    "interrupted\(attempt); "
      + (job == nil ? "how far it got is unknown" : "its job may go on without weft")
  }

  /// Whether its log is worth reading.
  fileprivate var needsLog: Bool {
    guard mayHaveWritten else { return false }
    if case .finished(let end, _) = state { return isServing || end.outcome != .success }
    return true
  }
}
