import Weft
import WeftEvents
import WeftPlatform
import WeftReporting

/// `weft approve`: answers a pending approval from another terminal.
struct ApproveCommand: Subcommand {
  /// An ID or its beginning; `nil` for the latest run.
  private let run: String?
  private let step: String
  private let rejects: Bool
  private let place: RecordDirectory

  /// Takes one or two operands, of which the last is the step.
  init(_ parsed: ParsedArguments) {
    run = parsed.operands.count == 2 ? parsed.operands[0] : nil
    step = parsed.operands[parsed.operands.count - 1]
    rejects = parsed.isGiven(.reject)
    place = RecordDirectory(parsed)
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let runs = try RecordedRuns(in: place)
    let run = try runs.chosen(run)
    let detail: RunDetail
    do { detail = try runs.state.detail(of: run) } catch { throw CommandFailure(error) }
    if let damage = detail.damage { throw CommandFailure(.damaged(damage)) }
    if detail.isToBeCancelled {
      throw CommandFailure(
        .usage, "run \(run) is cancelled, and takes no more answers",
        help: "to clean up and end it: weft resume \(place.words(for: run))")
    }
    let questions = detail.questions(at: .now)
    let named = StepAddress(parsing: step)
    if let named, let known = detail.recorded.steps[named], known.isTooLate(at: .now),
      let end = known.waitsUntil
    {
      throw CommandFailure(
        .usage,
        "the time to answer \"\(TerminalText.harmless(named.text))\" was over at \(ShownMoment.text(end)) UTC",
        help: "to continue without an answer: weft resume \(place.words(for: run))")
    }
    guard let question = questions.first(where: { $0.step == named }) else {
      throw failure(run, questions)
    }
    do { try runs.store.answer(question.step, of: run, approved: !rejects) } catch {
      throw CommandFailure(error)
    }
    let said = "\(rejects ? "rejected" : "approved") \(name(question)) of run \(run)"
    if detail.state == .running {
      console.output.write("\(said)\n")
    } else {
      let words = place.words(for: run)
      console.output.write("\(said); to continue: weft resume \(words)\n")
    }
    return .success
  }

  private func failure(_ run: RunID, _ questions: [ApprovalRequest]) -> CommandFailure {
    let step = "\"\(TerminalText.harmless(step))\""
    let help =
      questions.isEmpty
      ? "no step of run \(run) waits for approval"
      : "waiting in run \(run): \(questions.map(name).joined(separator: ", "))"
    return CommandFailure(.usage, "\(step) does not wait for approval", help: help)
  }

  private func name(_ question: ApprovalRequest) -> String {
    "\"\(TerminalText.harmless(question.step.text))\""
  }
}

/// `weft cancel`: cancels a run from another terminal, and waits until it has ended.
struct CancelCommand: Subcommand {
  /// An ID or its beginning; `nil` for the latest run that is running or waits, or else the latest that is cancelled
  /// already, or was interrupted.
  private let run: String?
  private let isImmediate: Bool
  private let place: RecordDirectory

  init(_ parsed: ParsedArguments) {
    run = parsed.operands.first
    isImmediate = parsed.isGiven(.now)
    place = RecordDirectory(parsed)
  }

  /// The polling interval while waiting for the end of a run.
  private static let attention = Duration.milliseconds(50)

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    let runs = try RecordedRuns(in: place)
    let run = try chosen(from: runs)
    guard let glance = runs.state.glance(at: run) else {
      throw CommandFailure(.unknown(run, in: runs.state.path))
    }
    let words = place.words(for: run)
    switch glance.state {
    case .success, .failure, .cancelled:
      console.output.write("run \(run) has already ended: \(glance.state.rawValue)\n")
    case .interrupted:
      let state = "run \(run) is not running: its weft was killed"
      let help = "\"weft reap \(words)\" ends its processes, \"weft resume \(words)\" continues it"
      // A script that names no run takes success for a run that has ended.
      if self.run == nil { throw CommandFailure(.usage, state, help: help) }
      console.output.write("\(state); \(help)\n")
    case .damaged:
      throw CommandFailure(.broken, "run \(run) is damaged: \(glance.damage ?? "")")
    case .waiting:
      try cancel(run, runs)
      console.output.write(
        "run \(run), which was suspended, is cancelled: \"weft resume \(words)\" cleans up and ends it\n"
      )
    case .running:
      try cancel(run, runs)
      console.errors.write("weft: cancelling run \(run)\n")
      console.errors.flush()
      let pause = Wakeup()
      while runs.state.isHeld(run) { pause.wait(atMost: CancelCommand.attention) }
      if let glance = runs.state.glance(at: run) {
        console.output.write("run \(run) has ended: \(glance.state.rawValue)\n")
      }
    }
    return .success
  }

  private func chosen(from runs: RecordedRuns) throws(CommandFailure) -> RunID {
    if run != nil { return try runs.chosen(run) }
    var other: RunID?
    for run in runs.state.newestFirst() {
      let glance = runs.state.glance(at: run)
      switch glance?.state {
      case .running: return run
      case .waiting:
        if glance?.isToBeCancelled == false { return run }
        other = other ?? run
      case .interrupted: other = other ?? run
      case .success, .failure, .cancelled, .damaged, nil: break
      }
    }
    guard let other else {
      throw CommandFailure(.usage, "no run in \"\(runs.state.path)\" is running")
    }
    return other
  }

  private func cancel(_ run: RunID, _ runs: RecordedRuns) throws(CommandFailure) {
    do { try runs.store.cancel(run, immediately: isImmediate) } catch {
      throw CommandFailure(error)
    }
  }
}
