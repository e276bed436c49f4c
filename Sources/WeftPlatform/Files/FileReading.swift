import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why a file's bytes could not be read.
package enum FileReadError: Error, Hashable, Sendable {
  case isDirectory
  case tooLarge(limit: Int)
  /// A FIFO that was not opened for writing in time.
  case noWriter(waited: Duration)
  case nulInPath
  case system(SystemError)

  package var error: SystemError? {
    switch self {
    case .isDirectory: .isDirectory
    case .system(let error): error
    case .tooLarge, .noWriter, .nulInPath: nil
    }
  }

  /// The error, to follow the name of the file.
  package var message: String {
    switch self {
    case .isDirectory: "is a directory"
    case .tooLarge(let limit):
      limit % (1024 * 1024) == 0
        ? "has more than \(limit / 1024 / 1024) MiB" : "has more than \(limit) bytes"
    case .noWriter(let waited):
      "is a FIFO that nobody has opened for writing in \(waited.components.seconds) s"
    case .nulInPath: "has a NUL character in its name"
    case .system(let error): "cannot be read: \(error)"
    }
  }
}

/// Reads whole files.
package enum FileReading {
  /// The limit for a workflow file and all files that it includes.
  package static let workflowLimit = 64 * 1024 * 1024

  /// The bytes of the file at `path`, opened once and read once; of standard input if that is "-".
  ///
  /// An endless file ends at the limit. A FIFO must get a writer within `patience`; after that, the writer may take its
  /// time.
  package static func bytes(
    of path: String, limit: Int = workflowLimit, patience: Duration = .seconds(5)
  ) throws(FileReadError) -> [UInt8] {
    if path.utf8.contains(0) { throw .nulInPath }
    if path == "-" {
      return try FileReader(file: STDIN_FILENO, limit: limit, patience: nil).all()
    }
    // Non-blocking, because opening a FIFO would wait for its writer.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let file = OwnedDescriptor(
      try orNotRead { () throws(SystemError) in
        try retrying { open(path, flags) }
      })
    return try FileReader(file: file.number, limit: limit, patience: patience).all()
  }
}

struct FileReader {
  let file: Int32
  let limit: Int
  /// `nil` if the writer, or the person at the terminal, is known to be there.
  let patience: Duration?

  func all() throws(FileReadError) -> [UInt8] {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system(.last) }
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR { throw .isDirectory }
    let expected = kind == S_IFREG ? Int(status.st_size) : 0
    if expected > limit { throw .tooLarge(limit: limit) }

    var bytes: [UInt8] = []
    var room = max(expected + 1, 64 * 1024)
    let giveUp = kind == S_IFIFO ? patience.map { MonotonicClock.now + $0 } : nil
    var isAwaitingWriter = giveUp != nil
    while true {
      let piece = try readPiece(atMost: min(room, limit + 1 - bytes.count))
      if piece.isEmpty {
        guard isAwaitingWriter, bytes.isEmpty, let giveUp else { return bytes }
        isAwaitingWriter = try !sawWriter(within: .milliseconds(10), until: giveUp)
        continue
      }
      if bytes.isEmpty { bytes = piece } else { bytes += piece }
      if bytes.count > limit { throw .tooLarge(limit: limit) }
      room = min(room * 2, 8 * 1024 * 1024)
    }
  }

  /// A FIFO that has not had a writer yet reads as ended and polls as silent. After the first writer has gone, it polls
  /// as hung up. While it has a writer, reads wait.
  private func sawWriter(within pause: Duration, until giveUp: Duration) throws(FileReadError)
    -> Bool
  {
    let milliseconds = Int32(pause / .milliseconds(1))
    if weft_poll_one(file, Int16(POLLIN), milliseconds) == 1 { return true }
    if MonotonicClock.now >= giveUp, let patience { throw .noWriter(waited: patience) }
    return false
  }

  /// Reads the next bytes; none at the end of the file.
  private func readPiece(atMost room: Int) throws(FileReadError) -> [UInt8] {
    while true {
      var failure: SystemError?
      let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
        do throws(SystemError) {
          count = try retrying { read(file, buffer.baseAddress, room) }
        } catch { failure = error }
      }
      guard let failure else { return piece }
      guard failure == .wouldBlock else { throw orNotRead(failure) }
      _ = weft_poll_one(file, Int16(POLLIN), -1)
    }
  }
}

private func orNotRead(_ error: SystemError) -> FileReadError {
  error == .isDirectory ? .isDirectory : .system(error)
}

private func orNotRead<Value>(
  _ body: () throws(SystemError) -> Value
) throws(FileReadError) -> Value {
  do { return try body() } catch { throw orNotRead(error) }
}
