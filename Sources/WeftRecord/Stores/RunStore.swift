public import WeftExecution
package import WeftPlanning

/// Where the records of runs are kept, so that one engine can go on where another has ended.
///
/// ``FileRunStore`` keeps them on disk, as the program `weft` does; ``MemoryRunStore`` as long as the process
/// lives. Another store, such as a table of a database, makes a ``RunJournal`` of three functions.
public protocol RunStore: Sendable {
  /// Begins the record of a run that there is not yet, and holds it.
  ///
  /// - Throws: When it cannot be begun; no step is started then.
  func begin(_ beginning: RunBeginning) throws(RunStoreFault) -> RunJournal

  /// Holds the record of a run whose engine has ended or left it, so that no other goes on with it meanwhile.
  ///
  /// - Throws: When there is no such run, or another engine has it.
  func take(_ run: RunID) throws(RunStoreFault) -> RunJournal

  /// What ``keep(durations:of:)`` was given last for this workflow; `nil` if nothing, or it is not to be had.
  ///
  /// Before a run: steps that are ready at the same time are then started in the order of the time that is below
  /// them, and ``Run/remaining`` can be told. Bytes that are damaged are as good as none.
  func durations(of workflow: WorkflowKey) -> [UInt8]?

  /// Keeps how long the steps of a workflow took, in place of what was kept before; when one of its runs has
  /// ended. A store need not understand it, and may lose it: nothing but an order and an estimate hangs on it.
  func keep(durations: [UInt8], of workflow: WorkflowKey)
}

extension RunStore {
  /// Nothing is known of earlier runs.
  public func durations(of workflow: WorkflowKey) -> [UInt8]? { nil }

  /// Nothing is kept.
  public func keep(durations: [UInt8], of workflow: WorkflowKey) {}
}

extension RunStore {
  /// What earlier runs have told of a workflow.
  package func history(of workflow: WorkflowKey) -> DurationHistory {
    durations(of: workflow).flatMap(DurationFile.history) ?? DurationHistory()
  }

  /// Adds what a run has told.
  package func add(
    _ measures: RunMeasures, of plan: Plan, succeeded: Bool, to workflow: WorkflowKey
  ) {
    // What has come meanwhile is not to be lost.
    let history = history(of: workflow).adding(measures, of: plan, succeeded: succeeded)
    if !history.isEmpty { keep(durations: DurationFile.bytes(of: history), of: workflow) }
  }
}

/// A run that is about to begin.
public struct RunBeginning: Sendable {
  public let run: RunID
  /// The bytes of the workflow file; `nil` of a workflow that was built in Swift.
  public var workflow: [UInt8]? { contents.workflow }
  package let contents: RunFolder.Contents

  package init(_ contents: RunFolder.Contents) {
    run = contents.opening.run
    self.contents = contents
  }
}

/// Why a record cannot be begun, read or gone on with.
public struct RunStoreFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was found, in a sentence without a full stop.
  public let message: String
  /// What to do about it.
  public let help: String?

  public init(message: String, help: String? = nil) {
    self.message = message
    self.help = help
  }

  public var description: String { help.map { "\(message) (\($0))" } ?? message }

  package init(_ fault: RunFolderFault) {
    self.init(message: fault.message, help: fault.help)
  }
}
