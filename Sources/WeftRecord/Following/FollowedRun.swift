package import WeftExecution
import WeftPlanning
import WeftPlatform

/// A run that another process has, turned back into the events of its engine: those of the journal as they are
/// recorded, and what steps write from their logs.
///
/// Only what its last engine does is told, what stood before it as restored. The order of events is that of the
/// record; output comes where it is found, before the end of what has written it, and is all told as standard
/// output, for a log does not keep them apart.
package struct FollowedRun {
  private let folder: PrivateDirectory
  private let logs: LogFolder?
  private var tail: JournalTail
  private var tails: [StepAddress: StepTail] = [:]
  private var running: Set<StepAddress> = []
  private var sequence: UInt64 = 0
  /// The record by which the engine has taken up the run that had it last when it was first looked at.
  private let firstTold: UInt64
  /// What the times of events are counted from.
  private var startedAt = WallTime(nanoseconds: 0)
  /// How the run has ended.
  package private(set) var end: RunEnd?
  /// Why its engine has left it without an end; `nil` if it goes on.
  package private(set) var pause: RunPause?

  package enum News {
    /// An engine has taken up the run; what it tells begins anew, and its times are counted from then.
    case began(RecordOpening, at: WallTime)
    case happened([RunEvent])
  }

  /// Called with news in their order.
  package typealias Tell = (News) -> Void

  /// - Parameter tellsOutput: Whether the logs are looked at.
  package init(
    _ run: RunID, in state: StateDirectory, tellsOutput: Bool = true
  ) throws(RunFolderFault) {
    folder = try state.folder(of: run)
    do {
      tail = JournalTail(try folder.file(RunFolder.journalName, .reading), of: run)
    } catch {
      throw .place(error)
    }
    firstTold = tail.lastOpening
    logs =
      tellsOutput
      ? (try? folder.directory(RunFolder.logsName, makes: false)).map { LogFolder($0) } : nil
  }

  /// Whether an engine has the run. If none has, what comes after that is all that ever will.
  package var isHeld: Bool { (try? RunFolder.isHeld(folder)) ?? false }

  /// Tells what has happened since the last call.
  ///
  /// - Returns: Whether anything was recorded.
  package mutating func poll(_ tell: Tell) -> Bool {
    var hasNews = false
    while end == nil, case let records = tail.next(), !records.isEmpty {
      hasNews = true
      for index in records.indices where end == nil {
        if case .opened(let opening) = records[index].kind {
          begin(at: records[index].at)
          if records[index].number >= firstTold { tell(.began(opening, at: startedAt)) }
        } else if records[index].number < firstTold {
          skip(records[index])
        } else {
          self.tell(records[index], isLast: !restarts(records, after: index), tell)
        }
      }
    }
    for step in running { takeOutput(of: step, tell) }
    return hasNews
  }

  /// An engine takes up the run.
  private mutating func begin(at moment: WallTime) {
    for step in Array(tails.keys) { tails[step]?.beginEngine() }
    running = []
    pause = nil
    sequence = 0
    startedAt = moment
  }

  /// Whether the step that a record is about begins another attempt later among them: what it has written by now
  /// may be that attempt's, then.
  private func restarts(_ records: [RunRecord], after index: Int) -> Bool {
    guard case .event(.stepRetrying(let step, _)) = records[index].kind else { return false }
    return records[(index + 1)...].contains { record in
      if case .event(.stepStarted(step, _)) = record.kind { true } else { false }
    }
  }

  private mutating func skip(_ record: RunRecord) {
    switch record.kind {
    case .event(.stepStarted(let step, _)): tails[step, default: StepTail(step)].start()
    case .finished(let step, let end, _), .cached(let step, let end, _):
      var tail = tails[step] ?? StepTail(step)
      if let last = tail.finish(logBytes: end.logBytes) { tail.skip(to: last) }
      tails[step] = tail
    default: break
    }
  }

  private mutating func tell(_ record: RunRecord, isLast: Bool, _ tell: Tell) {
    switch record.kind {
    case .opened, .spawned, .kept, .listed, .groupSkipped, .outdated, .waiting: break
    case .finished(let step, let end, _):
      finish(step, end, tell)
      pass(.stepFinished(step, end), at: record.at, tell)
    case .cached(let step, let end, _):
      if end.logBytes > 0 { tails[step, default: StepTail(step)].start() }
      finish(step, end, tell)
      pass(.stepCached(step, end), at: record.at, tell)
    case .event(let event):
      note(event, isLast: isLast, tell)
      pass(event, at: record.at, tell)
    }
  }

  private mutating func note(_ event: RunEvent.Kind, isLast: Bool, _ tell: Tell) {
    switch event {
    case .stepStarted(let step, _):
      tails[step, default: StepTail(step)].start()
      running.insert(step)
    case .stepRetrying(let step, _):
      running.remove(step)
      guard isLast else { break }
      takeOutput(of: step, tell)
      closeOutput(of: step, tell)
    case .runFinished(let end): self.end = end
    case .runWaiting(let pause): self.pause = pause
    default: break
    }
  }

  private mutating func finish(_ step: StepAddress, _ end: StepEnd, _ tell: Tell) {
    running.remove(step)
    let last = tails[step]?.finish(logBytes: end.logBytes)
    takeOutput(of: step, upTo: last ?? .max, tell)
    closeOutput(of: step, tell)
    if let last { tails[step]?.skip(to: last) }
  }

  private mutating func takeOutput(of step: StepAddress, upTo end: Int = .max, _ tell: Tell) {
    guard var tail = tails[step] else { return }
    var outputs: [StepOutput] = []
    tail.take(upTo: end, in: logs) { output in
      outputs.append(output)
      if outputs.count >= FollowedRun.batchCount {
        pass(outputs, of: step, tell)
        outputs.removeAll()
      }
    }
    pass(outputs, of: step, tell)
    tails[step] = tail
  }

  /// Lines that are told at once.
  private static let batchCount = 1000

  private mutating func closeOutput(of step: StepAddress, _ tell: Tell) {
    guard var tail = tails[step] else { return }
    var outputs: [StepOutput] = []
    tail.close { outputs.append($0) }
    pass(outputs, of: step, tell)
    tails[step] = tail
  }

  private mutating func pass(_ outputs: [StepOutput], of step: StepAddress, _ tell: Tell) {
    guard !outputs.isEmpty else { return }
    let now = elapsed(at: WallTime(nanoseconds: WallClock.now.nanoseconds))
    let events = outputs.map { output in
      sequence += 1
      return RunEvent(sequence: sequence, elapsed: now, kind: .stepOutput(step, output))
    }
    tell(.happened(events))
  }

  private mutating func pass(_ kind: RunEvent.Kind, at moment: WallTime, _ tell: Tell) {
    sequence += 1
    tell(.happened([RunEvent(sequence: sequence, elapsed: elapsed(at: moment), kind: kind)]))
  }

  private func elapsed(at moment: WallTime) -> Duration {
    max(.zero, moment.since(startedAt))
  }
}
