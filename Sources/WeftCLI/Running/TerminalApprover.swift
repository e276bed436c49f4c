import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Asks for approval at the terminal, while the display is withdrawn.
struct TerminalApprover: Approver {
  let arbiter: TerminalArbiter
  let threads: BlockingThreads

  func ask(_ request: ApprovalRequest, stop: StopSwitch) -> Future<ApprovalAnswer, Never> {
    let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.unanswered("nobody asks")))
    do {
      try threads.submit { promise.succeed(answer(to: request, stop: stop)) }
    } catch {
      promise.succeed(.unanswered("there is no thread for it"))
    }
    return promise.future
  }

  private func answer(to request: ApprovalRequest, stop: StopSwitch) -> ApprovalAnswer {
    let loan: TerminalLoan
    do {
      loan = try arbiter.borrow(stop: stop)
    } catch {
      guard case .terminalUnavailable(let reason) = error else { return .rejected }
      return .unanswered(reason.message)
    }
    defer {
      loan.end(restoringScreen: false)
      arbiter.giveBack(loan)
    }
    var prompt =
      "\(TerminalText.harmless(request.step.text)): \(TerminalText.harmless(request.message)) [y/N] "
    // An invalid answer is asked for again; the end of input is a rejection.
    while let line = loan.line(after: prompt, stop: stop) {
      switch line.lowercased().trimmingSpaces {
      case "y", "yes": return .approved(by: "\(ThisProcess.userName), at the terminal")
      case "n", "no", "": return .rejected
      default: prompt = "answer y or n: "
      }
    }
    return .rejected
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    String(split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }
}
