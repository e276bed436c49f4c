public import WeftExecution

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
