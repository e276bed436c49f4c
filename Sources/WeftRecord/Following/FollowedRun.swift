package import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// Follows a run of another process, and turns its journal and logs back into events.
///
/// Only events of its last engine are reported; earlier results appear as restored. Events are in the order of the
/// journal. Output is reported when it is found, before the end of its step, and always as standard output because a
/// log does not separate the streams.
package struct FollowedRun {
  private let folder: PrivateDirectory
  private let logs: LogFolder?
  private var tail: JournalTail
  private var tails: [StepAddress: StepTail] = [:]
  private var running: Set<StepAddress> = []
  private var sequence: UInt64 = 0
  /// The number of the last engine's opening record when following began. Earlier records are not reported.
  private let firstReported: UInt64
  /// The origin of event times.
  private var startedAt = WallTime(nanoseconds: 0)
  /// The end of the run, once it has ended.
  package private(set) var end: RunEnd?
  /// The reason why the engine suspended the run; `nil` if it continues.
  package private(set) var pause: RunPause?

  package enum Update {
    /// An engine has started or resumed the run. Its events start over, with times counted from then.
    case began(RecordOpening, at: WallTime)
    case happened([RunEvent])
  }

  /// Receives news in order.
  package typealias Handler = (Update) -> Void

  /// - Parameter readsOutput: Whether the logs are read.
  package init(
    _ run: RunID, in state: StateDirectory, readsOutput: Bool = true
  ) throws(RunFolderError) {
    folder = try state.folder(of: run)
    do {
      tail = JournalTail(try folder.file(RunFolder.journalName, .reading), of: run)
    } catch {
      throw .place(error)
    }
    firstReported = tail.lastOpening
    logs =
      readsOutput
      ? (try? folder.directory(RunFolder.logsName, makes: false)).map { LogFolder($0) } : nil
  }

  /// Whether an engine holds the run. If not, a poll after this check reads everything there will ever be.
  package var isHeld: Bool { (try? RunFolder.isHeld(folder)) ?? false }

  /// Reports the events since the last call.
  ///
  /// - Returns: Whether anything was recorded.
  package mutating func poll(_ report: Handler) -> Bool {
    var hasChanges = false
    while end == nil, case let records = tail.next(), !records.isEmpty {
      hasChanges = true
      for index in records.indices where end == nil {
        if case .opened(let opening) = records[index].kind {
          begin(at: records[index].at)
          if records[index].number >= firstReported { report(.began(opening, at: startedAt)) }
        } else if records[index].number < firstReported {
          skip(records[index])
        } else {
          self.report(records[index], isLast: !restarts(records, after: index), report)
        }
      }
    }
    for step in running { takeOutput(of: step, report) }
    return hasChanges
  }

  /// Starts over for another engine.
  private mutating func begin(at moment: WallTime) {
    for step in Array(tails.keys) { tails[step]?.beginEngine() }
    running = []
    pause = nil
    sequence = 0
    startedAt = moment
  }

  /// Whether the step of a record starts another attempt later in `records`: output found now may belong to that
  /// attempt.
  private func restarts(_ records: [RunRecord], after index: Int) -> Bool {
    guard case .event(.stepRetrying(let step, _), _) = records[index].kind else { return false }
    return records[(index + 1)...].contains { record in
      if case .event(.stepStarted(step, _, _), _) = record.kind { true } else { false }
    }
  }

  private mutating func skip(_ record: RunRecord) {
    switch record.kind {
    case .event(.stepStarted(let step, _, _), _): tails[step, default: StepTail(step)].start()
    case .event(.stepFinished(let step, let end), _), .event(.stepCached(let step, let end), _):
      var tail = tails[step] ?? StepTail(step)
      if let last = tail.finish(logBytes: end.logBytes) { tail.skip(to: last) }
      tails[step] = tail
    default: break
    }
  }

  private mutating func report(_ record: RunRecord, isLast: Bool, _ report: Handler) {
    switch record.kind {
    case .opened, .spawned, .kept, .listed, .groupSkipped, .outdated, .waiting: break
    case .event(let event, _):
      apply(event, isLast: isLast, report)
      pass(event, at: record.at, report)
    }
  }

  private mutating func apply(_ event: RunEvent.Kind, isLast: Bool, _ report: Handler) {
    switch event {
    case .stepStarted(let step, _, _):
      tails[step, default: StepTail(step)].start()
      running.insert(step)
    case .stepRetrying(let step, _):
      running.remove(step)
      guard isLast else { break }
      takeOutput(of: step, report)
      closeOutput(of: step, report)
    case .stepFinished(let step, let end): finish(step, end, report)
    case .stepCached(let step, let end):
      if end.logBytes > 0 { tails[step, default: StepTail(step)].start() }
      finish(step, end, report)
    case .runFinished(let end): self.end = end
    case .runWaiting(let pause): self.pause = pause
    default: break
    }
  }

  private mutating func finish(_ step: StepAddress, _ end: StepEnd, _ report: Handler) {
    running.remove(step)
    let last = tails[step]?.finish(logBytes: end.logBytes)
    takeOutput(of: step, upTo: last ?? .max, report)
    closeOutput(of: step, report)
    if let last { tails[step]?.skip(to: last) }
  }

  private mutating func takeOutput(of step: StepAddress, upTo end: Int = .max, _ report: Handler) {
    guard var tail = tails[step] else { return }
    var outputs: [StepOutput] = []
    tail.take(upTo: end, in: logs) { output in
      outputs.append(output)
      if outputs.count >= FollowedRun.batchCount {
        pass(outputs, of: step, report)
        outputs.removeAll()
      }
    }
    pass(outputs, of: step, report)
    tails[step] = tail
  }

  /// The number of lines reported together.
  private static let batchCount = 1000

  private mutating func closeOutput(of step: StepAddress, _ report: Handler) {
    guard var tail = tails[step] else { return }
    var outputs: [StepOutput] = []
    tail.close { outputs.append($0) }
    pass(outputs, of: step, report)
    tails[step] = tail
  }

  private mutating func pass(_ outputs: [StepOutput], of step: StepAddress, _ report: Handler) {
    guard !outputs.isEmpty else { return }
    let now = elapsed(at: .now)
    let events = outputs.map { output in
      sequence += 1
      return RunEvent(sequence: sequence, elapsed: now, kind: .stepOutput(step, output))
    }
    report(.happened(events))
  }

  private mutating func pass(_ kind: RunEvent.Kind, at moment: WallTime, _ report: Handler) {
    sequence += 1
    report(.happened([RunEvent(sequence: sequence, elapsed: elapsed(at: moment), kind: kind)]))
  }

  private func elapsed(at moment: WallTime) -> Duration {
    max(.zero, moment.since(startedAt))
  }
}

/// Reads a journal while its engine appends to it.
///
/// Each read takes only complete records, starting after the last one. A torn end may be a record in progress, or one
/// that was never completed and that the next engine cuts off.
struct JournalTail {
  private let file: Descriptor
  private let run: RunID
  /// The end of the last complete record, and its number.
  private var offset = 0
  private var number: UInt64 = 0
  private let limits: JournalLimits

  private static let pieceBytes = 1 << 20

  init(_ file: Descriptor, of run: RunID, limits: JournalLimits = JournalLimits()) {
    self.file = file
    self.run = run
    self.limits = limits
  }

  /// Returns the new records, from at most one piece of the file.
  ///
  /// - Returns: Empty if there are no more for now.
  mutating func next() -> [RunRecord] {
    var wanted = JournalTail.pieceBytes
    while let bytes = try? file.piece(at: offset, atMost: wanted) {
      let records = take(bytes)
      if !records.isEmpty || bytes.count < wanted || wanted > limits.lineBytes { return records }
      wanted *= 4
    }
    return []
  }

  /// The number of the last engine's opening record; 0 if there is none yet.
  var lastOpening: UInt64 {
    var (ahead, last) = (self, UInt64(0))
    while case let records = ahead.next(), !records.isEmpty {
      for record in records {
        if case .opened = record.kind { last = record.number }
      }
    }
    return last
  }

  private mutating func take(_ bytes: [UInt8]) -> [RunRecord] {
    bytes.withUnsafeBytes { bytes in
      var records: [RunRecord] = []
      var start = 0
      while let end = bytes.offset(of: UInt8(ascii: "\n"), from: start) {
        let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        guard RecordLine.isWhole(line), let record = try? RunRecord(line: line),
          record.number == number + 1, isOwn(record)
        else { break }
        number += 1
        start = end + 1
        records.append(record)
      }
      offset += start
      return records
    }
  }

  private func isOwn(_ record: RunRecord) -> Bool {
    if case .opened(let opening) = record.kind { return opening.run == run }
    return record.number > 1
  }
}

/// Polls a run of another process until it cannot produce anything more.
package struct RunPoller {
  package enum Finding {
    /// The run may produce more after ``RunPoller/pause``.
    case continues
    case ended(RunEnd)
    /// Its engine has suspended it until a pending approval is answered.
    case waits(RunPause)
    /// No engine holds it, and its end is not recorded.
    case abandoned
  }

  private var followed: FollowedRun
  private var isFirst = true
  /// Whether no engine held it at the last poll.
  private var isFree = false

  /// The delay between polls without news.
  package static let pause = Duration.milliseconds(50)

  package init(_ followed: FollowedRun) {
    self.followed = followed
  }

  /// Whether ``RunPoller/pause`` must pass before the next poll.
  package var isIdle: Bool { !isFirst && !isFree }

  /// Reports new events.
  package mutating func poll(_ report: FollowedRun.Handler) -> Finding {
    isFirst = false
    let hasChanges = followed.poll(report)
    if let end = followed.end { return .ended(end) }
    if let pause = followed.pause { return .waits(pause) }
    if hasChanges {
      isFree = false
    } else if isFree {
      return .abandoned
    } else {
      // Records from before this check are read by one more poll.
      isFree = !followed.isHeld
    }
    return .continues
  }
}
