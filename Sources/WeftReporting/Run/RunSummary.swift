import WeftDefinition
import WeftExecution
import WeftJSON
import WeftPlanning

/// How a run ended, as both displays tell it: a blank line, failures with the cause first, what was
/// skipped and why, then the count; the count alone where there is nothing to explain.
struct RunSummary {
  let text: DisplayText
  let palette: Palette
  let labels: StepLabels
  let howToSeeMore: String?

  /// Nothing before the run's end.
  func lines(_ progress: RunProgress) -> [String] {
    if let pause = progress.pause { return lines(progress, pause) }
    guard let end = progress.end else { return [] }
    let causes = causes(progress, end)
    let explanations = causes + outputs(end)
    return (explanations.isEmpty ? [] : [""]) + explanations
      + [verdict(end, unselected: progress.tally.unselected)]
  }

  private func causes(_ progress: RunProgress, _ end: RunEnd) -> [String] {
    var lines = failures(progress, cause: end.firstFailure)
    lines += processes(end.leftovers, end.unkillable)
    if let failure = end.failure {
      lines.append(palette.painted("the run failed: \(text.name(failure.message))", .bad))
      if let help = failure.help { lines.append("  help: \(text.name(help))") }
    }
    if let reason = end.cancellation {
      lines.append(palette.painted("cancelled: \(text.name(reason.sentence))", .doubtful))
    }
    return lines
  }

  /// What is to be answered before the run can go on, and how.
  private func lines(_ progress: RunProgress, _ pause: RunPause) -> [String] {
    var lines = failures(progress, cause: nil) + processes(pause.leftovers, pause.unkillable)
    lines += pause.requests.map { request in
      palette.painted(
        "\(title(request.step)) waits for approval: \(text.name(request.message))", .doubtful)
    }
    let done = counted(pause.counts.succeeded, "step")
    lines.append(
      "\(done) succeeded in \(ShownDuration.precise(pause.duration)); the rest waits")
    return [""] + lines
  }

  /// What failed, and what was skipped for it.
  private func failures(_ progress: RunProgress, cause: StepAddress?) -> [String] {
    let entries = progress.failures.ordered(cause: cause)
    var lines = entries.flatMap(failure)
    if progress.failures.omitted > 0 {
      lines.append("and \(counted(progress.failures.omitted, "more failure"))")
    }
    if progress.failures.pardonedOmitted > 0 {
      lines.append("and \(counted(progress.failures.pardonedOmitted, "more tolerated failure"))")
    }
    if let howToSeeMore, entries.contains(where: { isCut($0.tail) }) { lines.append(howToSeeMore) }
    lines += progress.skips.entries.map(skip)
    if progress.skips.omitted > 0 {
      lines.append("\(counted(progress.skips.omitted, "more step")) skipped for other reasons")
    }
    if let sentence = progress.recoveries.sentence { lines.append(sentence) }
    return lines
  }

  private func processes(
    _ leftovers: [LeftoverProcess], _ unkillable: [LeftoverProcess]
  ) -> [String] {
    var lines: [String] = []
    if !leftovers.isEmpty {
      lines.append("ended what steps had left running: \(names(of: leftovers))")
    }
    if !unkillable.isEmpty {
      lines.append(palette.painted("could not end: \(names(of: unkillable))", .bad))
    }
    return lines
  }

  /// What the run hands on, one line each: `count: 3`.
  private func outputs(_ end: RunEnd) -> [String] {
    end.outputs.map { output in "\(output.name): \(shown(output.value))" }
  }

  private func shown(_ value: JSONValue?) -> String {
    guard let value else { return palette.painted("***", .faint) }
    let whole =
      if case .string(let content) = value { content } else { value.description }
    let cut = whole.prefix(RunSummary.outputLimit)
    return text.name(String(cut)) + (cut.endIndex == whole.endIndex ? "" : "…")
  }

  private static let outputLimit = 200

  /// `4711 (sleep), 4712 (sh)`
  private func names(of processes: [LeftoverProcess]) -> String {
    let shown = processes.prefix(RunSummary.processLimit)
      .map { "\($0.process) (\(text.name($0.command)))" }.joined(separator: ", ")
    let rest = processes.count - RunSummary.processLimit
    return rest > 0 ? "\(shown) and \(rest) more" : shown
  }

  private static let processLimit = 10

  private func failure(_ entry: FailureList.Entry) -> [String] {
    let kind = entry.isGroup ? "group " : ""
    let sign = entry.pardon == nil ? palette.failedSign : palette.toleratedSign
    let pardon = entry.pardon.map { " (\(text.name($0)))" } ?? ""
    let attempt = entry.attempts > 1 ? " (attempt \(entry.attempts))" : ""
    let duration = ShownDuration.precise(entry.duration)
    var lines = [
      "\(sign)\(kind)\(title(entry.address)) failed after \(duration)\(attempt): "
        + "\(text.name(entry.message))\(pardon)"
    ]
    if let help = entry.help { lines.append("  help: \(text.name(help))") }
    if isCut(entry.tail) {
      lines.append(
        "  "
          + palette.painted(
            "last \(OutputTail.lineLimit) of "
              + "\(entry.tail.lineCount) lines:", .faint))
    }
    lines += entry.tail.lines.map { "  \(palette.margin) \(text.line($0[...]))" }
    return lines
  }

  private func isCut(_ tail: OutputTail) -> Bool { tail.lineCount > OutputTail.lineLimit }

  private func title(_ address: StepAddress) -> String {
    guard let title = labels.title(of: address) else { return "\"\(text.name(address.text))\"" }
    return "\"\(text.name(address.text))\" (\(text.name(title)))"
  }

  /// `7 steps skipped because "build" failed: a, b, c and 4 more`.
  private func skip(_ entry: SkipList.Entry) -> String {
    var names = entry.names.map { text.name($0.text) }.joined(separator: ", ")
    if entry.count > entry.names.count { names += " and \(entry.count - entry.names.count) more" }
    return
      "\(counted(entry.count, "step")) \(text.name(entry.cause.phrase(of: entry.count))): \(names)"
  }

  /// `3 of 5 steps succeeded, 1 failed, 1 skipped in 2.1 s`: of those that there were, since only the run
  /// finds out for how many elements a step is run, and which clean up.
  private func verdict(_ end: RunEnd, unselected: Int) -> String {
    var counts = StepCounts(end.counts)
    counts.leaveOut(skipped: unselected)
    let stepCount = counts.done
    let all = counted(stepCount, "step")
    var parts = [
      counts.succeeded == stepCount ? "\(all) succeeded" : "\(counts.succeeded) of \(all) succeeded"
    ]
    if counts.failed > 0 { parts.append("\(counts.failed) failed") }
    if counts.tolerated > 0 { parts.append("\(counts.tolerated) failed and tolerated") }
    if counts.cancelled > 0 { parts.append("\(counts.cancelled) cancelled") }
    if counts.skipped > 0 { parts.append("\(counts.skipped) skipped") }
    if end.counts.cached > 0 { parts.append("\(end.counts.cached) of them cached") }
    if end.counts.restored > 0 { parts.append("\(end.counts.restored) of them before") }
    if unselected > 0 { parts.append("\(unselected) left out") }
    // What failed may be no step: a list of elements that cannot be computed, a time limit.
    let failed = end.outcome == .failure && counts.failed == 0 ? "the run failed; " : ""
    let line = failed + parts.joined(separator: ", ") + " in \(ShownDuration.precise(end.duration))"
    return palette.painted(line, tone(end.outcome))
  }

  private func tone(_ outcome: Outcome) -> Palette.Tone {
    switch outcome {
    case .success: .good
    case .failure: .bad
    case .cancelled, .skipped: .doubtful
    }
  }
}
