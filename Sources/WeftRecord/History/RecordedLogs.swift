package import WeftEvents
import WeftExecution
package import WeftPlanning
import WeftPlatform

/// The logs of a run's steps, readable regardless of its lock.
package struct RecordedLogs {
  /// `nil` if there are none.
  private let folder: LogFolder?

  package init(of run: RunID, in state: StateDirectory) throws(RunFolderError) {
    let directory = try state.folder(of: run)
    do {
      folder = LogFolder(try directory.directory(RunFolder.logsName, makes: false))
    } catch {
      guard error.error == .notFound else { throw .place(error) }
      folder = nil
    }
  }

  /// Returns the size of a log; `nil` if there is none.
  package func byteCount(of step: StepAddress) -> Int? {
    folder?.log(of: step).flatMap { try? $0.byteCount() }
  }

  /// Returns the last bytes of a log, and whether there is nothing before them; `nil` if there is no log.
  package func end(of step: StepAddress, atMost limit: Int) -> (bytes: [UInt8], isWhole: Bool)? {
    guard let file = folder?.log(of: step), let count = try? file.byteCount() else { return nil }
    let start = max(0, count - limit)
    return (try? file.piece(at: start, atMost: count - start)).map { ($0, start == 0) }
  }

  package func reader(of step: StepAddress) -> LogReader { LogReader(step, in: folder) }
}

/// Reads a log from its beginning, while it may be written to.
package struct LogReader {
  package let step: StepAddress
  private let folder: LogFolder?
  private var file: Descriptor?
  /// The number of bytes read.
  package private(set) var offset = 0

  private static let pieceBytes = 256 << 10

  fileprivate init(_ step: StepAddress, in folder: LogFolder?) {
    self.step = step
    self.folder = folder
  }

  /// Reads new bytes.
  ///
  /// - Parameter body: Called with each piece; returns whether to continue.
  package mutating func read(_ body: ([UInt8]) -> Bool) {
    if file == nil { file = folder?.log(of: step) }
    while let bytes = try? file?.piece(at: offset, atMost: LogReader.pieceBytes), !bytes.isEmpty {
      offset += bytes.count
      guard body(bytes) else { return }
    }
  }

  /// Closes the file until the next read.
  package mutating func close() { file = nil }
}
