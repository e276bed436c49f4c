import WeftEvents
import WeftPlanning

/// The end of a step's output, or of that of an attempt.
struct OutputEnd {
  let step: StepAddress
  let moment: OutputPolicy.Moment
  /// The step before its end; `nil` if it is cached.
  let running: RunProgress.RunningStep?
  /// The end of its log, if known.
  let logEnd: UInt64?

  /// - Parameters:
  ///   - event: `nil` is returned for all events that end no output.
  ///   - progress: The run before the event.
  init?(_ event: RunEvent, _ progress: RunProgress) {
    switch event.kind {
    case .stepRetrying(let address, _): (step, moment, logEnd) = (address, .retry, nil)
    case .stepFinished(let address, let end):
      (step, moment, logEnd) = (address, .end(end.outcome), end.logBytes)
    case .stepCached(let address, let end):
      (step, moment, logEnd) = (address, .cached, end.logBytes)
    default: return nil
    }
    running = progress.running[step]
  }

  /// Returns an excerpt of the lines that nothing but the log has from `start` on; the last lines if that is gone.
  func excerpt(from start: UInt64, log: Reporter.ReadLog) -> OutputExcerpt? {
    if let logEnd, logEnd > start {
      let read = OutputExcerpt(of: step, in: start..<logEnd, log: log)
      if !read.isEmpty { return read }
    }
    return running.map { OutputExcerpt($0.tail) }
  }
}
