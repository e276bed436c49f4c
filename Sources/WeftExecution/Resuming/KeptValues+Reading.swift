import WeftDefinition
import WeftExpressions
import WeftPlanning
import WeftPlatform

/// What expressions read of a step that has ended in an earlier part of the run.
extension KeptValues {
  /// Whether all is there that is read of the step; of what was secret, nothing is.
  func answers(_ reads: StepReads, _ end: StepEnd) -> Bool {
    if lacksSecrets { return false }
    if reads.contains(.stdout), stdout == nil, end.exit != nil { return false }
    if reads.contains(.stderr), stderr == nil, end.exit != nil { return false }
    if end.http?.status != nil, !reads.isEmpty {
      guard let answer, answer.isWhole(for: reads, isSaved: end.http?.savedTo != nil) else {
        return false
      }
    }
    return !reads.contains(.result) || end.outputs.allSatisfy { $0.value != nil }
  }

  func nodeValues(of end: StepEnd, spool: CaptureSpool) -> NodeValues {
    var own = NodeValues(
      outcome: end.outcome, conclusion: end.conclusion, attempts: end.attempts,
      duration: end.duration, exit: end.exit)
    own.stdout = stdout.map { CapturedText($0, spool: spool) }
    own.stderr = stderr.map { CapturedText($0, spool: spool) }
    own.isOfRequest = end.http != nil
    own.answer = answer.flatMap { AnswerValues($0, of: end.http, spool: spool) }
    if case .value(let value)? = returned { own.returned = ScopedValue(ExpressionValue(value)) }
    own.outputs = end.outputs.compactMap { output in
      output.value.map {
        OutputValue(name: output.name, value: ExpressionValue($0), isSecret: false)
      }
    }
    return own
  }
}

extension KeptAnswer {
  /// Whether what is read of it is there: not of a body that was too long to be recorded, or no text.
  fileprivate func isWhole(for reads: StepReads, isSaved: Bool) -> Bool {
    guard reads.contains(.stdout) else { return true }
    for text in [body, collected] {
      if let text, text == .tooLong || text == .notUTF8 { return false }
    }
    return body != nil || isSaved
  }
}

extension CapturedText {
  fileprivate init(_ kept: KeptText, spool: CaptureSpool) {
    let stream: OutputCapture.Stream =
      switch kept {
      // What reads it takes one newline away.
      case .text(let text): .init(Array(text.utf8) + [UInt8(ascii: "\n")])
      case .notUTF8: .init([0xFF])
      case .tooLong, .secret: .init(isCut: true)
      }
    self.init(stream, isSecret: kept == .secret, spool: spool)
  }
}
