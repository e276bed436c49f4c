public import WeftEvents
package import WeftPlanning

/// A store of runs, so that one engine can resume where another has ended.
///
/// ``FileRunStore`` keeps them on disk, as the program `weft` does; ``MemoryRunStore`` for the lifetime of the
/// process. Other stores, such as a database table, build a ``RunJournal`` from three functions.
public protocol RunStore: Sendable {
  /// Creates and holds the journal of a new run.
  ///
  /// - Throws: If it cannot be created; no step is started then.
  func begin(_ beginning: RunBeginning) throws(RunStoreError) -> RunJournal

  /// Holds the journal of a run whose engine has ended or suspended it, so that no other engine resumes it meanwhile.
  ///
  /// - Throws: If the run does not exist, or another engine holds it.
  func take(_ run: RunID) throws(RunStoreError) -> RunJournal

  /// Returns the last value given to ``keep(durations:of:)`` for this workflow; `nil` if there is none or it is not
  /// available.
  ///
  /// Called before a run: durations order steps that are ready at the same time by the remaining time below them, and
  /// enable ``Run/remaining``. Damaged bytes count as none.
  func durations(of workflow: WorkflowKey) -> [UInt8]?

  /// Stores the durations of a workflow's steps when one of its runs has ended, replacing earlier ones. A store need
  /// not understand them, and may lose them: they only affect an order and an estimate.
  func keep(durations: [UInt8], of workflow: WorkflowKey)

  /// Returns the last value given to ``keep(state:of:)`` for this workflow; `nil` if there is none.
  ///
  /// Called before each run of a workflow that has `state`.
  ///
  /// - Throws: If it cannot be read; nothing is started then.
  func state(of workflow: WorkflowKey) throws(RunStoreError) -> [UInt8]?

  /// Stores the state of a workflow when one of its runs has succeeded, replacing the earlier state as a whole. A store
  /// need not understand it.
  ///
  /// - Throws: If it cannot be stored; the run fails then.
  func keep(state: [UInt8], of workflow: WorkflowKey) throws(RunStoreError)
}

extension RunStore {
  /// Returns nothing.
  public func durations(of workflow: WorkflowKey) -> [UInt8]? { nil }

  /// Stores nothing.
  public func keep(durations: [UInt8], of workflow: WorkflowKey) {}

  /// Returns nothing.
  public func state(of workflow: WorkflowKey) throws(RunStoreError) -> [UInt8]? { nil }

  /// Throws: the store keeps no state.
  public func keep(state: [UInt8], of workflow: WorkflowKey) throws(RunStoreError) {
    throw RunStoreError(message: "the store of the run keeps no state")
  }
}

extension RunStore {
  /// Returns the durations of earlier runs of a workflow.
  package func history(of workflow: WorkflowKey) -> DurationHistory {
    durations(of: workflow).flatMap(DurationFile.history) ?? DurationHistory()
  }

  /// Adds the measurements of a run.
  package func add(
    _ measures: RunMeasures, of plan: Plan, succeeded: Bool, to workflow: WorkflowKey
  ) {
    // Read again, so that measurements added meanwhile are not lost.
    let history = history(of: workflow).adding(measures, of: plan, succeeded: succeeded)
    if !history.isEmpty { keep(durations: DurationFile.bytes(of: history), of: workflow) }
  }
}

/// A run that is about to begin.
public struct RunBeginning: Sendable {
  public let run: RunID
  /// The bytes of the workflow file; `nil` for a workflow built in Swift.
  public var workflow: [UInt8]? { contents.workflow }
  package let contents: RunFolder.Contents

  package init(_ contents: RunFolder.Contents) {
    run = contents.opening.run
    self.contents = contents
  }
}

/// The reason why a journal cannot be created, read or resumed.
public struct RunStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error as a sentence without a full stop.
  public let message: String
  /// The suggested remedy.
  public let help: String?
  /// Whether there is no room for a record, except in space that is reserved for the ends of running steps.
  package var isOfSpace = false

  public init(message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  public var description: String { help.map { "\(message) (\($0))" } ?? message }

  package init(_ fault: RunFolderError) {
    self.init(message: fault.message, help: fault.help)
  }
}
