import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// The wording of the plain display, and its treatment of step output.
struct PlainStyle: Sendable {
  let text: DisplayText
  let palette: Palette
  private let isTerminal: Bool
  private let gitHub: GitHubCommands?

  init(_ settings: DisplaySettings) {
    isTerminal = settings.isTerminal
    gitHub = settings.annotatesForGitHub ? GitHubCommands() : nil
    text = DisplayText(passesSGR: settings.usesColour, passesUnicode: settings.usesUnicode)
    // Plain lines are also read by programs: no colours, and words instead of symbols.
    palette = Palette(usesColour: false, usesUnicode: false)
  }

  func header(_ start: RunStart) -> String {
    let workflow = start.workflow.map { "\(text.name($0)): " } ?? ""
    return "\(workflow)\(Count(start.stepCount, "step")), at most \(start.maxParallel) at once"
  }

  /// Appends the line of a step that starts. Built from bytes, because most steps only print two such lines.
  func append(
    started address: StepAddress, attempt: Int, job: JobKind?, title: String?,
    to bytes: inout [UInt8]
  ) {
    append(about: address, to: &bytes) { line in
      // A cluster starts it when it has room.
      line += job?.hasQueue == true ? "submitted".utf8 : "started".utf8
      if attempt > 1 { line += " (attempt \(attempt))".utf8 }
      if let title { line += ": \(text.name(title))".utf8 }
    }
  }

  func append(finished address: StepAddress, _ end: StepEnd, to bytes: inout [UInt8]) {
    append(about: address, to: &bytes) { line in
      let duration = ShownDuration.precise(end.duration)
      switch end.outcome {
      case .success:
        line += "succeeded in ".utf8
        line += duration.utf8
        line += attempt(end.attempts).utf8
        if let phrase = end.http?.phrase { line += ": \(text.name(phrase))".utf8 }
      case .failure:
        line += "failed\(tolerance(end.conclusion)) after \(duration)".utf8
        line += "\(attempt(end.attempts)): \(reason(end))".utf8
        if let why = end.notRetried {
          line += "; not retried: \(text.name(why))".utf8
        }
      case .cancelled: line += "cancelled after \(duration): \(reason(end))".utf8
      case .skipped: line += "skipped".utf8
      }
      if !end.leftovers.isEmpty { line += leftovers(end).utf8 }
      line += orphans(end).utf8
    }
  }

  func append(
    retrying address: StepAddress, ofGroup isGroup: Bool = false, _ retry: Retry,
    to bytes: inout [UInt8]
  ) {
    append(about: address, to: &bytes) { line in
      let duration = ShownDuration.precise(retry.duration)
      let subject = isGroup ? "group failed" : "failed"
      line += "\(subject) after \(duration): \(text.name(retry.failure.message))".utf8
      line += "; \(retry.sentence)".utf8
    }
  }

  private func attempt(_ attempts: Int) -> String { attempts > 1 ? " (attempt \(attempts))" : "" }

  private func append(
    about address: StepAddress, to bytes: inout [UInt8], _ rest: (inout [UInt8]) -> Void
  ) {
    guard gitHub == nil else {
      var line = Array("weft: [\(text.name(address.text))] ".utf8)
      rest(&line)
      return append(inert: line[...], to: &bytes)
    }
    bytes += "weft: [".utf8
    bytes += text.name(address.text).utf8
    bytes += "] ".utf8
    rest(&bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Returns the line of a cached step, with its original duration.
  func cached(_ address: StepAddress, _ end: StepEnd) -> String {
    "[\(text.name(address.text))] cached (\(ShownDuration.precise(end.duration)) when it last ran)"
  }

  func ready(_ address: StepAddress, _ end: StepEnd) -> String {
    "[\(text.name(address.text))] ready after \(ShownDuration.precise(end.duration))\(attempt(end.attempts))"
  }

  func skipped(_ address: StepAddress, _ reason: SkipReason) -> String {
    "[\(text.name(address.text))] \(text.name(reason.phrase(of: address)))"
  }

  /// Returns the line of a loop or a retry that starts; `nil` for other groups.
  func started(_ group: StepAddress, _ start: GroupStart) -> String? {
    if let elements = start.elements {
      return "[\(text.name(group.text))] started for \(Count(elements, "element"))"
    }
    guard start.attempt > 1 else { return nil }
    return "[\(text.name(group.text))] group started (attempt \(start.attempt))"
  }

  /// Returns the line of an ended group; `nil` if its members' lines say it all.
  func finished(_ group: StepAddress, _ end: GroupEnd, _ prior: GroupSentence.Prior) -> String? {
    guard let sentence = GroupSentence(end, prior).text else { return nil }
    let name = text.name(group.text)
    return "[\(name)] \(prior.elements == nil ? "group " : "")\(text.name(sentence))"
  }

  func warning(_ warning: RunWarning) -> [String] {
    let help = warning.help.map { "help: \(text.name($0))" }
    return ["warning: \(text.name(warning.message))"] + [help].compactMap(\.self)
  }

  func asking(_ step: StepAddress, _ message: String) -> String {
    "[\(text.name(step.text))] waits for approval: \(text.name(message))"
  }

  func cancelling(_ reason: CancelReason) -> String { "cancelling: \(text.name(reason.sentence))" }

  private func reason(_ end: StepEnd) -> String {
    text.name(end.failure?.message ?? end.cancellation?.sentence ?? end.outcome.rawValue)
  }

  private func tolerance(_ conclusion: Outcome) -> String {
    conclusion == .success ? " (tolerated)" : ""
  }

  private func leftovers(_ end: StepEnd) -> String {
    let processes = end.leftovers.map { "\($0.process) (\(text.name($0.command)))" }
    return "; ended processes that it left running: \(processes.joined(separator: ", "))"
  }

  private func orphans(_ end: StepEnd) -> String {
    guard !end.unkillable.isEmpty else { return "" }
    let processes = end.unkillable.map { "\($0.process) (\(text.name($0.command)))" }
    return "; could not end: \(processes.joined(separator: ", "))"
  }
}

extension PlainStyle {
  /// Appends the line that begins a group, which GitHub Actions can fold.
  func append(group step: StepAddress, title: String?, isContinued: Bool, to bytes: inout [UInt8]) {
    let name = text.name(step.text)
    let label =
      isContinued ? "\(name) (continued)" : name + (title.map { ": \(text.name($0))" } ?? "")
    bytes += "::group::".utf8
    // A runner executes commands anywhere in a line.
    gitHub?.append(
      inert: Array(GitHubCommands.escaped(label, isProperty: false).utf8)[...], to: &bytes)
    bytes += "\n".utf8
  }

  func append(groupEndTo bytes: inout [UInt8]) { bytes += "::endgroup::\n".utf8 }

  func annotation(_ address: StepAddress, _ end: StepEnd) -> String? {
    guard let gitHub, end.outcome == .failure else { return nil }
    return gitHub.annotation(
      isTolerated: end.conclusion == .success, title: text.name(address.text), message: reason(end))
  }

  func annotation(group address: StepAddress, _ end: GroupEnd) -> String? {
    guard let gitHub else { return nil }
    return gitHub.annotation(
      isTolerated: end.conclusion == .success, title: text.name(address.text),
      message: text.name(end.failure?.message ?? "failed"))
  }

  /// Returns the annotation of a failure once it is known whether it counts.
  func annotation(_ failure: FailureList.Entry) -> String? {
    gitHub?.annotation(
      isTolerated: failure.tolerate != nil, title: text.name(failure.address.text),
      message: text.name(failure.message + (failure.tolerate.map { " (\($0))" } ?? "")))
  }

  func annotation(_ warning: RunWarning) -> String? {
    gitHub?.annotation(
      isTolerated: true, title: "weft",
      message: text.name(warning.message) + (warning.help.map { " (\(text.name($0)))" } ?? ""))
  }

  /// Appends a line that a GitHub Actions runner may execute.
  func append(_ annotation: String, to bytes: inout [UInt8]) {
    bytes += annotation.utf8
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Appends a message line, which may quote names and output.
  func append(sentence: String, to bytes: inout [UInt8]) {
    append(inert: Array(sentence.utf8)[...], to: &bytes)
  }

  /// Appends one line of a step's output. A pipe gets the bytes as they are, except text overwritten by a progress
  /// bar: many readers treat a lone `\r` as a new line, which would lack the prefix.
  func append(output line: ArraySlice<UInt8>, prefix: [UInt8], to bytes: inout [UInt8]) {
    let shown = StepOutput.lastState(of: line)
    guard let gitHub else {
      bytes += prefix
      if isTerminal { text.filter.append(shown, to: &bytes) } else { bytes += shown }
      bytes.append(UInt8(ascii: "\n"))
      return
    }
    // A GitHub Actions runner interprets prefix and output as one text.
    var whole = prefix
    if isTerminal { text.filter.append(shown, to: &whole) } else { whole += shown }
    gitHub.append(inert: whole[...], to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Returns `[step] `, the prefix of each line of a step.
  func prefix(of step: StepAddress) -> [UInt8] { Array("[\(text.name(step.text))] ".utf8) }

  private func append(inert line: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
    if let gitHub {
      gitHub.append(inert: line, to: &bytes)
    } else {
      bytes += line
    }
    bytes.append(UInt8(ascii: "\n"))
  }
}
