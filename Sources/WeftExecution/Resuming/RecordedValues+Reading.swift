import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON

/// The values that expressions read of a step that ended under an earlier engine.
extension RecordedValues {
  /// Whether every value that is read of the step is recorded. `false` if one of them was secret.
  func answers(_ reads: StepReads, _ end: StepEnd) -> Bool {
    if lacksSecrets, !reads.isEmpty { return false }
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
    var own = NodeValues(end)
    own.stdout = stdout.map { CapturedText($0, spool: spool) }
    own.stderr = stderr.map { CapturedText($0, spool: spool) }
    if end.http != nil { own.shape = .answer }
    own.answer = answer.flatMap { ResponseValues($0, of: end.http, spool: spool) }
    if case .value(let value)? = returned {
      own.shape = .action
      own.returned = ScopedValue(ExpressionValue(value))
    }
    own.outputs = end.outputs.map(OutputValue.init)
    return own
  }
}

extension OutputValue {
  /// A recorded output. One without a value was secret; a step that reads it is not restored.
  init(_ output: ReportedOutput) {
    self.init(
      name: output.name, value: ExpressionValue(output.value ?? .null),
      isSecret: output.value == nil)
  }
}

extension RecordedResponse {
  /// Whether the parts that are read are recorded: a body may have been too long, or not text.
  fileprivate func isWhole(for reads: StepReads, isSaved: Bool) -> Bool {
    guard reads.contains(.stdout) else { return true }
    for text in [body, collected] {
      if let text, text == .tooLong || text == .notUTF8 { return false }
    }
    return body != nil || isSaved
  }
}

extension CapturedText {
  fileprivate init(_ kept: RecordedText, spool: CaptureSpool) {
    let stream: OutputCapture.Stream =
      switch kept {
      // Reading the value removes one newline.
      case .text(let text): .init(Array(text.utf8) + [UInt8(ascii: "\n")])
      case .notUTF8: .init([0xFF])
      case .tooLong, .secret: .init(isCut: true)
      }
    self.init(stream, isSecret: kept == .secret, spool: spool)
  }
}
