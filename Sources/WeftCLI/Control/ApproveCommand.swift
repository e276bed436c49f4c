import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// `weft approve`: answers a pending approval from another terminal.
struct ApproveCommand {
  private let invocation: ApproveInvocation
  private let console: Console

  init(_ invocation: ApproveInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    do throws(Refusal) {
      let runs = try RecordedRuns(in: RecordPlace.path(invocation.stateDirectory))
      return try answer(try runs.chosen(invocation.run), runs)
    } catch {
      return console.refuse(error)
    }
  }

  private func answer(_ run: RunID, _ runs: RecordedRuns) throws(Refusal) -> ExitCode {
    let detail: RunDetail
    do { detail = try runs.state.detail(of: run) } catch { throw Refusal(error) }
    if let damage = detail.damage { throw Refusal(.damaged(damage)) }
    let questions = detail.questions
    let named = StepAddress(parsing: invocation.step)
    guard let question = questions.first(where: { $0.step == named }) else {
      throw refusal(run, questions)
    }
    do {
      try RunFolder.leave(
        invocation.rejects ? .reject(question.step) : .approve(question.step), for: run,
        in: runs.state, at: WallTime(nanoseconds: WallClock.now.nanoseconds))
    } catch {
      throw Refusal(error)
    }
    let said = "\(invocation.rejects ? "rejected" : "approved") \(name(question)) of run \(run)"
    if detail.state == .running {
      console.output.write("\(said)\n")
    } else {
      let words = RecordPlace.words(for: run, stateDirectory: invocation.stateDirectory)
      console.output.write("\(said); \"weft resume \(words)\" goes on with it\n")
    }
    return .success
  }

  private func refusal(_ run: RunID, _ questions: [ApprovalRequest]) -> Refusal {
    let step = "\"\(TerminalText.harmless(invocation.step))\""
    let help =
      questions.isEmpty
      ? "no step of run \(run) waits for approval"
      : "of run \(run) these wait: \(questions.map(name).joined(separator: ", "))"
    return Refusal(.usage, "\(step) does not wait for approval", help: help)
  }

  private func name(_ question: ApprovalRequest) -> String {
    "\"\(TerminalText.harmless(question.step.text))\""
  }
}
