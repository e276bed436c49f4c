package import WeftEvents
package import WeftExecution
package import WeftPlatform

/// The reason why a run's folder cannot be used.
package enum RunFolderError: Error, Sendable, Hashable {
  case place(UnsafePathError)
  /// The run does not exist.
  case unknown(RunID, in: String)
  /// Another engine holds it; `by` identifies that, if known.
  case held(RunID, by: LockHolder?)
  /// The ID is in use.
  case taken(RunID)
  /// The journal is damaged and cannot be resumed.
  case damaged(JournalError)
  /// The journal is empty.
  case empty(RunID)
  /// The journal has no complete first record.
  case withoutOpening(String, bytes: Int)
  /// A required file is missing.
  case missing(String, RunID)
  /// A file does not match its hash in the journal.
  case altered(String)
  /// The opening record of this engine cannot be written.
  case record(RecordError)

  /// Returns the error for a journal without a first record.
  ///
  /// - Parameter bytes: The size of the file.
  package static func missingOpening(_ run: RunID, journal: String, bytes: Int) -> RunFolderError {
    bytes == 0 ? .empty(run) : .withoutOpening(journal, bytes: bytes)
  }

  /// The error as a sentence without a full stop.
  package var message: String {
    switch self {
    case .place(let fault): fault.message
    case .unknown(let run, let place): "there is no run \(run) in \"\(place)\""
    case .held(let run, let holder?):
      "run \(run) is held by process \(holder.process), since \(holder.since)"
    case .held(let run, nil): "run \(run) is held by another process"
    case .taken(let run): "run \(run) already exists"
    case .damaged(let damage): damage.message
    case .empty(let run): "the journal of run \(run) is empty"
    case .withoutOpening(let journal, let bytes):
      "\(journal):1:0: no complete first record in its \(bytes) bytes"
    case .missing(let name, let run): "run \(run) has no \(name): the record is incomplete"
    case .altered(let path):
      "\"\(path)\" is damaged: it does not match the SHA-256 in the journal"
    case .record(let fault): fault.message
    }
  }

  /// Whether a file or folder was missing.
  var concernsMissingRun: Bool {
    if case .place(let fault) = self { fault.error == .notFound } else { false }
  }

  package var help: String? {
    switch self {
    case .place(.system), .unknown, .taken, .empty, .withoutOpening, .missing, .altered: nil
    case .place(.writableByOthers(let path, _)):
      "remove the write permission: chmod go-w '\(path)'"
    case .place: "use a different directory: --state-dir DIR"
    case .record(let fault): fault.help
    case .held: "wait until it ends, or cancel it"
    case .damaged(let damage) where damage.hasOtherFormat:
      "resume it with that version of weft, or start a new run"
    case .damaged: "use --salvage to continue from the intact part before it"
    }
  }
}

/// The process that holds a run's lock.
package struct LockHolder: Sendable, Hashable {
  package var process: Int32
  /// RFC 3339, UTC.
  package var since: String

  package init(process: Int32, since: String) {
    self.process = process
    self.since = since
  }

  /// Parses the content of the lock file. It is only informative: the lock itself is the system's.
  init?(_ bytes: [UInt8]) {
    let parts = bytes.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") })
    guard parts.count == 2, let process = Int32(String(decoding: parts[0], as: UTF8.self)),
      parts[1].count <= 30, let since = String(validating: parts[1], as: UTF8.self),
      since.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    self.init(process: process, since: since)
  }

  var bytes: [UInt8] { Array("\(process) \(since)\n".utf8) }
}
