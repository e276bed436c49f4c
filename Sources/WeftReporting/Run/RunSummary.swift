import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftJSON
import WeftPlanning

/// The summary of a run, for both displays: a blank line, failures with the cause first, skipped steps with reasons,
/// then the counts and the commands that show more; only these if there is nothing to explain.
struct RunSummary {
  let text: DisplayText
  let palette: Palette
  let labels: StepLabels
  let run: RunReference?
  /// Whether the last lines of a failed step were just shown.
  var omitsTail: (StepAddress) -> Bool = { _ in false }

  /// Returns the lines; none before the run's end.
  func lines(_ progress: RunProgress) -> [String] {
    if let pause = progress.run.pause { return lines(progress, pause) }
    guard let end = progress.run.end else { return [] }
    let causes = causes(progress, end)
    let explanations = causes + outputs(end)
    return (explanations.isEmpty ? [] : [""]) + explanations
      + [verdict(end, unselected: progress.tally.unselected)] + more(progress, end)
  }

  /// Returns the commands that show more.
  private func more(_ progress: RunProgress, _ end: RunEnd) -> [String] {
    guard let run else { return [] }
    guard let details = run.details else { return [faint("run \(run.id) was not recorded")] }
    let first = progress.failures.ordered(cause: end.firstFailure).first
    let logs = first.flatMap { $0.tail.lineCount > 0 ? run.logs(of: $0.address) : nil }
    return [faint("details: \(details)")] + (logs.map { [faint("output:  \($0)")] } ?? [])
  }

  private func faint(_ line: String) -> String { palette.painted(line, .faint) }

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

  /// Returns the pending approvals of a suspended run.
  private func lines(_ progress: RunProgress, _ pause: RunPause) -> [String] {
    var lines = failures(progress, cause: nil) + processes(pause.leftovers, pause.unkillable)
    lines += pause.requests.map { request in
      palette.painted(
        "\(title(request.step)) waits for approval: \(text.name(request.message))", .doubtful)
    }
    let counts = pause.counts
    let done =
      ["\(Count(counts.succeeded, "step")) succeeded"]
      + RunSummary.others(counts, unselected: progress.tally.unselected)
    lines.append(
      "\(done.joined(separator: ", ")) in \(ShownDuration.precise(pause.duration)); the rest waits")
    return [""] + lines
  }

  /// Returns the failures, and the steps skipped because of them.
  private func failures(_ progress: RunProgress, cause: StepAddress?) -> [String] {
    let entries = progress.failures.ordered(cause: cause)
    var lines = entries.flatMap(failure)
    if progress.failures.omitted > 0 {
      lines.append("and \(Count(progress.failures.omitted, "more failure"))")
    }
    if progress.failures.toleratedOmitted > 0 {
      lines.append("and \(Count(progress.failures.toleratedOmitted, "more tolerated failure"))")
    }
    lines += progress.skips.entries.map(skip)
    if progress.skips.omitted > 0 {
      lines.append("\(Count(progress.skips.omitted, "more step")) skipped for other reasons")
    }
    if let sentence = progress.recoveries.sentence { lines.append(sentence) }
    return lines
  }

  private func processes(
    _ leftovers: [LeftoverProcess], _ unkillable: [LeftoverProcess]
  ) -> [String] {
    var lines: [String] = []
    if !leftovers.isEmpty {
      lines.append("ended processes that steps left running: \(names(of: leftovers))")
    }
    if !unkillable.isEmpty {
      lines.append(palette.painted("could not end: \(names(of: unkillable))", .bad))
    }
    return lines
  }

  /// Returns the outputs of the run, one line each: `count: 3`.
  private func outputs(_ end: RunEnd) -> [String] {
    end.outputs.map { output in "\(output.name): \(shown(output.value))" }
  }

  private func shown(_ value: JSONValue?) -> String {
    guard let value else { return palette.painted("***", .faint) }
    // Values are shown exactly in every locale, like step output, except for terminal control characters.
    let exact = DisplayText(passesSGR: false, passesUnicode: true)
    return exact.beginning(
      of: value.shownText, characters: RunSummary.outputLimit, ellipsis: text.ellipsis)
  }

  private static let outputLimit = 200

  /// Returns `4711 (sleep), 4712 (sh)`.
  private func names(of processes: [LeftoverProcess]) -> String {
    let shown = processes.prefix(RunSummary.processLimit)
      .map { "\($0.process) (\(text.name($0.command)))" }.joined(separator: ", ")
    let rest = processes.count - RunSummary.processLimit
    return rest > 0 ? "\(shown) and \(rest) more" : shown
  }

  private static let processLimit = 10

  private func failure(_ entry: FailureList.Entry) -> [String] {
    let kind = entry.isGroup ? "group " : ""
    let sign = entry.tolerate == nil ? palette.failedSign : palette.toleratedSign
    let tolerate = entry.tolerate.map { " (\(text.name($0)))" } ?? ""
    let attempt = entry.attempts > 1 ? " (attempt \(entry.attempts))" : ""
    let duration = ShownDuration.precise(entry.duration)
    var lines = [
      "\(sign)\(kind)\(title(entry.address)) failed after \(duration)\(attempt): "
        + "\(text.name(entry.message))\(tolerate)"
    ]
    if let help = entry.help { lines.append("  help: \(text.name(help))") }
    if omitsTail(entry.address) { return lines }
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

  /// Returns `7 steps skipped because "build" failed: a, b, c and 4 more`.
  private func skip(_ entry: SkipList.Entry) -> String {
    var names = entry.names.map { text.name($0.text) }.joined(separator: ", ")
    if entry.count > entry.names.count { names += " and \(entry.count - entry.names.count) more" }
    return
      "\(Count(entry.count, "step")) \(text.name(entry.cause.phrase(of: entry.count))): \(names)"
  }

  /// Returns `3 of 5 steps succeeded, 1 failed, 1 skipped in 2.1 s`. Counts the steps that existed in the run,
  /// because the plan does not determine the number of elements and cleanup steps.
  private func verdict(_ end: RunEnd, unselected: Int) -> String {
    palette.painted(RunSummary.sentence(on: end, unselected: unselected), tone(end.outcome))
  }

  static func sentence(on end: RunEnd, unselected: Int) -> String {
    let counts = end.counts
    let skipped = max(0, counts.skipped - unselected)
    let stepCount = counts.done - counts.skipped + skipped
    let all = Count(stepCount, "step")
    let succeeded =
      counts.succeeded == stepCount ? "\(all) succeeded" : "\(counts.succeeded) of \(all) succeeded"
    let parts = [succeeded] + others(counts, unselected: unselected)
    // The failure may not be a step's: a loop's list that cannot be evaluated, or a time limit.
    let failed = end.outcome == .failure && counts.failed == 0 ? "the run failed; " : ""
    let earlier = counts.restored > 0 ? " (\(counts.restored) in an earlier part)" : ""
    let time = ShownDuration.precise(end.duration)
    return failed + parts.joined(separator: ", ") + " in \(time)\(earlier)"
  }

  /// Returns `1 failed`, `2 skipped` and so on, for the steps that have ended in another way than by success.
  private static func others(_ counts: OutcomeCounts, unselected: Int) -> [String] {
    let skipped = max(0, counts.skipped - unselected)
    var parts: [String] = []
    if counts.failed > 0 { parts.append("\(counts.failed) failed") }
    if counts.tolerated > 0 { parts.append("\(counts.tolerated) failed and tolerated") }
    if counts.cancelled > 0 { parts.append("\(counts.cancelled) cancelled") }
    if skipped > 0 { parts.append("\(skipped) skipped") }
    if counts.cached > 0 { parts.append("\(counts.cached) of them cached") }
    if unselected > 0 { parts.append("\(unselected) not selected") }
    return parts
  }

  private func tone(_ outcome: Outcome) -> Palette.Tone {
    switch outcome {
    case .success: .good
    case .failure: .bad
    case .cancelled, .skipped: .doubtful
    }
  }
}

/// A run as commands name it that messages suggest.
package struct RunReference: Sendable, Hashable {
  let id: String
  /// The arguments that identify the run to a command, such as `20261121-184112-f65300`; `nil` if it is not recorded.
  let arguments: String?

  package init(id: String, arguments: String?) {
    self.id = id
    self.arguments = arguments
  }

  /// The command that shows the run.
  var details: String? { arguments.map { "weft show \($0)" } }

  /// Returns the command that prints a step's whole log.
  func logs(of step: StepAddress) -> String? {
    arguments.map { "weft logs \($0) \(ShellWord.quoted(TerminalText.harmless(step.text)))" }
  }
}
