import WeftDefinition
import WeftExpressions
import WeftHTTP
import WeftJSON
import WeftPlatform

/// What of a step is recorded for those who read it, should another engine go on with the run.
extension LiveRun {
  func kept(_ own: NodeValues?, making files: [KeptFile]) -> KeptValues {
    guard events.isRecorded else { return KeptValues() }
    return KeptValues(
      stdout: own?.stdout.map { $0.kept(from: values.spool) },
      stderr: own?.stderr.map { $0.kept(from: values.spool) },
      returned: own?.returned.map { $0.isSecret ? .secret : .value($0.value.json) },
      answer: own?.answer.map(kept),
      files: files.filter { !secrets.hideAnything || !secrets.mask.contains(Array($0.path.utf8)) })
  }

  /// The file into which a request's answer went.
  func savedFiles(_ trace: RequestTrace?) -> [KeptFile] {
    guard events.isRecorded, let path = trace?.answer?.response.savedTo,
      let file = KeptFile(stampedAt: path)
    else { return [] }
    return [file]
  }

  private func kept(_ answer: AnswerValues) -> KeptAnswer {
    // An output may have turned out to be secret since the answer came.
    let mask = secrets.hideAnything ? secrets.mask : nil
    let reveals = { (text: String) in mask?.contains(Array(text.utf8)) == true }
    let headers = answer.headers.value.json
    return KeptAnswer(
      headers: answer.headers.isSecret || reveals("\(headers)") ? .secret : .value(headers),
      body: answer.body?.kept(from: values.spool, unless: reveals),
      isJSON: answer.body?.isJSON == true,
      collected: answer.collected.map { collected in
        collected.isSecret ? .secret : .limited("\(collected.value.json)", unless: reveals)
      })
  }
}

extension KeptText {
  fileprivate static func limited(_ text: String, unless isSecret: (String) -> Bool) -> KeptText {
    if text.utf8.count > WorkflowLimits.valueBytes { return .tooLong }
    return isSecret(text) ? .secret : .text(text)
  }
}

extension CapturedBody {
  fileprivate func kept(from spool: CaptureSpool, unless isSecret: (String) -> Bool) -> KeptText {
    if self.isSecret { return .secret }
    if byteCount > WorkflowLimits.valueBytes { return .tooLong }
    guard case .string(let text)? = try? text("the step", from: spool).value else {
      return .notUTF8
    }
    return .limited(text, unless: isSecret)
  }
}

extension CapturedText {
  fileprivate func kept(from spool: CaptureSpool) -> KeptText {
    if isSecret { return .secret }
    do throws(CaptureFault) {
      return .text(try text(from: spool))
    } catch {
      switch error {
      case .tooLong: return .tooLong
      case .notUTF8: return .notUTF8
      // It is as if there were too much of it: an expression that reads it fails.
      case .unreadable: return .tooLong
      }
    }
  }
}
