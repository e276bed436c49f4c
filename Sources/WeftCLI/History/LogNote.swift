import WeftDiagnostics
import WeftEvents
import WeftPlanning
import WeftRecord

/// A remark about a log besides its bytes.
struct LogNote {
  let sentence: String
  /// Whether recorded output is missing.
  let isFault: Bool

  /// - Parameter found: The size of the log; `nil` if there is none.
  /// - Returns: `nil` if the log needs no remark.
  init?(_ step: StepAddress, in detail: RunDetail, found: Int?) {
    let name = "\"\(TerminalText.harmless(step.text))\""
    if detail.past.steps[step]?.isCached == true {
      self.init(
        found ?? 0 == 0
          ? "step \(name) was cached, and wrote nothing when it last ran"
          : "step \(name) was cached: this is what it wrote when it last ran")
      return
    }
    switch detail.past.steps[step]?.state {
    case nil, .queued?: self.init("step \(name) has not begun")
    case .skipped(let reason)? where found == nil:
      self.init("step \(name) has not begun: it was \(reason.outcome.rawValue)")
    case .finished(let end, _)?:
      let recorded = Int(clamping: end.logBytes)
      if found ?? 0 < recorded {
        self.init(
          "warning: the log of step \(name) is not whole: "
            + "\(recorded - (found ?? 0)) of its \(recorded) bytes are not there", isFault: true)
      } else if end.outputTruncated {
        self.init(
          "the log of step \(name) was cut at its limit: it has written \(end.outputBytes) bytes")
      } else if found ?? 0 == 0 {
        self.init("step \(name) has written nothing")
      } else {
        return nil
      }
    case .started?, .retrying?, .skipped?:
      guard found ?? 0 == 0 else { return nil }
      self.init("step \(name) has written nothing yet")
    }
  }

  private init(_ sentence: String, isFault: Bool = false) {
    self.sentence = sentence
    self.isFault = isFault
  }
}
