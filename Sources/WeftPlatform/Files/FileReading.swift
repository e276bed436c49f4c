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

  fileprivate init(_ error: SystemError) {
    self = error == .isDirectory ? .isDirectory : .system(error)
  }

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
      "is a FIFO that was not opened for writing within \(waited.components.seconds) s"
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
    if path == "-" { return try Descriptor.standardInput.bytes(limit: limit) }
    let file: Descriptor
    do {
      // Non-blocking, because opening a FIFO would wait for its writer.
      let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
      file = Descriptor(owning: try retrying { open(path, flags) })
    } catch {
      throw FileReadError(error)
    }
    return try file.bytes(limit: limit, patience: patience)
  }

  /// The bytes of a file that a program may have replaced by anything: follows no links, does not wait, and reads at
  /// most `limit` bytes of a file that is still growing.
  package static func bytes(
    ofRegularFile path: String, limit: Int
  ) throws(RegularFileError) -> [UInt8] {
    let file: Descriptor
    do {
      let flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
      file = Descriptor(owning: try retrying { open(path, flags) })
    } catch {
      throw RegularFileError(opening: error)
    }
    let kind: FileStamp.Kind
    do { kind = try FileStamp(of: file).kind } catch { throw .notRead(.system(error)) }
    if let noun = kind.nounIfNotFile { throw .replaced(by: noun) }
    do { return try file.bytes(limit: limit) } catch { throw .notRead(error) }
  }
}

extension Descriptor {
  /// All bytes from the current position to the end, at most `limit`.
  ///
  /// - Parameter patience: The time in which a FIFO must get a writer; `nil` if the writer, or the person at the
  ///   terminal, is known to be there.
  func bytes(limit: Int, patience: Duration? = nil) throws(FileReadError) -> [UInt8] {
    let status: stat
    do { status = try self.status() } catch { throw .system(error) }
    let kind = status.st_mode & S_IFMT
    if kind == S_IFDIR { throw .isDirectory }
    let expected = kind == S_IFREG ? Int(status.st_size) : 0
    if expected > limit { throw .tooLarge(limit: limit) }

    var bytes: [UInt8] = []
    var room = max(expected + 1, 64 * 1024)
    let patience = kind == S_IFIFO ? patience : nil
    let start = MonotonicClock.now
    var isAwaitingWriter = patience != nil
    while true {
      let piece = try nextPieceWaiting(atMost: min(room, limit + 1 - bytes.count))
      if piece.isEmpty {
        guard isAwaitingWriter, bytes.isEmpty, let patience else { return bytes }
        isAwaitingWriter = !hasWriter(within: .milliseconds(10))
        if isAwaitingWriter, MonotonicClock.now >= start + patience {
          throw .noWriter(waited: patience)
        }
        continue
      }
      if bytes.isEmpty { bytes = piece } else { bytes += piece }
      if bytes.count > limit { throw .tooLarge(limit: limit) }
      room = min(room * 2, 8 * 1024 * 1024)
    }
  }

  /// A FIFO that has not had a writer yet reads as ended and polls as silent. After the first writer has gone, it polls
  /// as hung up. While it has a writer, reads wait.
  private func hasWriter(within pause: Duration) -> Bool {
    weft_poll_one(number, Int16(POLLIN), Int32(pause / .milliseconds(1))) == 1
  }

  private func nextPieceWaiting(atMost room: Int) throws(FileReadError) -> [UInt8] {
    while true {
      do { return try nextPiece(atMost: room) } catch {
        guard error == .wouldBlock else { throw FileReadError(error) }
        _ = weft_poll_one(number, Int16(POLLIN), -1)
      }
    }
  }
}

/// The reason why a file that a different program should have written was not read.
package enum RegularFileError: Error, Hashable, Sendable {
  case missing
  /// It is no longer a regular file but, for example, a directory, a FIFO or a symbolic link.
  case replaced(by: String)
  case notRead(FileReadError)

  /// The error, to follow the name of the file.
  package var message: String {
    switch self {
    case .missing: "no longer exists"
    case .replaced(let kind): "was replaced by \(kind), expected a file"
    case .notRead(let failure): failure.message
    }
  }
}

extension RegularFileError {
  fileprivate init(opening error: SystemError) {
    switch error {
    case .notFound: self = .missing
    case SystemError(number: ELOOP): self = .replaced(by: "a symbolic link")
    // FIFOs and sockets refuse some ways of opening; for a FIFO, those are not used here.
    case SystemError(number: ENXIO): self = .replaced(by: "a socket")
    default: self = .notRead(.system(error))
    }
  }
}

/// Searches as fast as the C library does (`memchr`: 16 to 32 bytes at a time).
extension UnsafeRawBufferPointer {
  /// The offset of the first `byte` at or after `start`.
  package func offset(of byte: UInt8, from start: Int = 0) -> Int? {
    guard start < count, let base = baseAddress else { return nil }
    guard let found = memchr(base + start, Int32(byte), count - start) else { return nil }
    return UnsafeRawPointer(found) - base
  }

  /// Whether the bytes, of which there is one at least, occur in it.
  package func contains(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { weft_contains(baseAddress, count, $0.baseAddress, $0.count) != 0 }
  }
}

extension ArraySlice<UInt8> {
  /// The index of the first `byte`.
  package func index(of byte: UInt8) -> Int? {
    withUnsafeBytes { $0.offset(of: byte) }.map { startIndex + $0 }
  }
}
