public import WeftEvents
import WeftExecution
public import WeftPlanning
import WeftPlatform
public import WeftRecord
public import WeftReporting
public import WeftReports

/// A recorded run as its folder had it when it was read. A run in progress goes on meanwhile: read it again for news.
///
/// Secrets are not recorded, and what is shown of the workflow file is masked.
public struct RecordedRun: Sendable {
  package let detail: RunDetail
  private let directory: StateDirectory

  init(_ detail: RunDetail, in directory: StateDirectory) {
    self.detail = detail
    self.directory = directory
  }

  /// The run's ID.
  public var run: RunID { detail.run }

  /// The state; ``RecordedState/damaged`` if the journal is, whatever it says before the damage.
  public var state: RecordedState { detail.state }

  /// The reason why the journal could only be read in part, as a sentence without a full stop.
  public var damage: String? { detail.damage?.message }

  /// The path of the workflow file as it was given; `nil` for a workflow built in Swift.
  public var file: String? { detail.recorded.opening?.file }

  /// The approvals that steps wait for and that can still be given. ``FileRunStore/answer(_:of:approved:)`` answers them.
  public var pendingApprovals: [ApprovalRequest] { detail.questions(at: .now) }

  /// The end of the run; `nil` if it has none yet.
  public var end: RunEnd? { detail.recorded.end }

  /// Returns the state of every step, as ``Run/report`` does for a run of this process.
  ///
  /// - Returns: `nil` if the workflow was built in Swift or its file is not valid any more, so that the steps are not
  ///   known.
  /// - Throws: If the journal cannot be read any more.
  public func report() throws(RunStoreError) -> RunReport? {
    let opening = detail.recorded.lastOpening
    guard let plan = RecordedPlan(run, opening, in: directory).plan else { return nil }
    var state = RunState(reporting: plan)
    do { _ = try directory.detail(of: run) { state.apply($0) } } catch {
      throw RunStoreError(error)
    }
    return state.report
  }

  /// Returns the end of a step's log: both streams, in the order in which they were read, secrets masked.
  ///
  /// - Parameter count: The maximum number of bytes.
  /// - Returns: Empty for a step that wrote nothing or does not exist, and if the log cannot be read.
  public func output(of step: StepAddress, last count: Int = 64 << 10) -> [UInt8] {
    let logs = try? RecordedLogs(of: run, in: directory)
    return logs?.end(of: step, atMost: max(0, count))?.bytes ?? []
  }

  /// Returns the run as `weft show` prints it, in UTF-8.
  public func rendered(as format: RunDetailFormat) -> [UInt8] {
    let plan = RecordedPlan(run, detail.recorded.lastOpening, in: directory).plan
    switch format {
    case .json: return RunDetailJSON.rendered(detail, plan)
    case .text:
      let text = RunDetailText(.plainText, run: run.text, now: .now)
      return Array(text.rendered(detail, plan).utf8)
    }
  }

  /// Returns a report about the run as `weft report` writes it.
  ///
  /// - Throws: If the journal cannot be read any more.
  public func rendered(as format: ReportFormat) throws(RunStoreError) -> [UInt8] {
    try reported().rendered(as: format)
  }

  /// Compares the run with an earlier one: definition, inputs, outcomes, durations.
  ///
  /// - Throws: If a journal cannot be read any more.
  public func difference(from earlier: RecordedRun) throws(RunStoreError) -> RunDifference {
    RunDifference(from: try earlier.reported(), to: try reported())
  }

  private func reported() throws(RunStoreError) -> ReportedRun {
    do { return try ReportedRun(run, in: directory, called: run.text) } catch {
      throw RunStoreError(error)
    }
  }
}

extension RunDifference {
  /// Returns the difference as `weft diff` prints it, in UTF-8.
  public func rendered(as format: RunDetailFormat) -> [UInt8] { rendered(as: format, .plainText) }

  package func rendered(as format: RunDetailFormat, _ settings: DisplaySettings) -> [UInt8] {
    switch format {
    case .json: RunDifferenceJSON.rendered(self)
    case .text: Array(RunDifferenceText(settings).rendered(self).utf8)
    }
  }
}

extension ReportedRun {
  /// Reads everything that a run's folder holds, regardless of its lock.
  ///
  /// - Parameter words: The arguments that identify the run to a command.
  package convenience init(
    _ run: RunID, in state: StateDirectory, called words: String
  ) throws(RunFolderError) {
    var builder = TimelineBuilder()
    let detail = try state.detail(of: run) { builder.apply($0) }
    let logs = try RecordedLogs(of: run, in: state)
    let recorded = RecordedPlan(run, detail.recorded.lastOpening, in: state)
    let isChanged = detail.recorded.isChanged((try? state.workflow(of: run)) ?? nil)
    let plan = isChanged ? nil : recorded.plan
    let history = plan.flatMap { WorkflowKey($0) }.map {
      FileRunStore(directory: state.path).history(of: $0)
    }
    self.init(
      detail, builder, plan, mask: recorded.secrets.mask,
      definition: isChanged ? nil : recorded.definition,
      history: history ?? DurationHistory(), words: words, now: .now,
      isChanged: isChanged, hasLog: { logs.byteCount(of: $0) != nil },
      readEnd: { step, limit in
        logs.end(of: step, atMost: limit).map { LogEnd($0.bytes, isWhole: $0.isWhole) }
      })
  }
}

extension RunState {
  /// Whether a workflow file is not one that an engine of the run read.
  fileprivate func isChanged(_ file: [UInt8]?) -> Bool {
    // An engine killed while it accepted changes leaves the hash of one version and the content of the other.
    guard let file, let hash = lastOpening?.hash else { return false }
    return ![hash, opening?.hash].contains(RecordedFile.hash(of: file))
  }
}
