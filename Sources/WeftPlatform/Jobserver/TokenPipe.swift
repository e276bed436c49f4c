import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why a jobserver that was offered cannot be used.
package enum JobserverError: Error, Hashable, Sendable {
  /// make closes its descriptors in programs that it does not recognize as make.
  case descriptorsClosed(JobserverAddress)
  case notOpened(JobserverAddress, SystemError)
  case noPipe(JobserverAddress)

  package var message: String {
    switch self {
    case .descriptorsClosed(let address): "the descriptors \(address.text) are not open"
    case .notOpened(let address, let error): "\(address.text) cannot be opened: \(error)"
    case .noPipe(let address): "\(address.text) is no pipe"
    }
  }
}

/// A pipe in which each byte permits one more job.
package final class TokenPipe: Sendable {
  /// A separate open file description, so that its reads do not block while those of other processes still do.
  let reading: Descriptor
  private let writing: Descriptor

  private init(reading: Descriptor, writing: Descriptor) {
    self.reading = reading
    self.writing = writing
  }

  /// Joins a pipe that a different process created.
  package static func joined(
    _ address: JobserverAddress
  ) throws(JobserverError) -> TokenPipe {
    switch address {
    case .fifo(let path):
      let both: Descriptor
      do { both = try opened(path, O_RDWR) } catch { throw .notOpened(address, error) }
      guard isPipe(both.number) else { throw .noPipe(address) }
      return TokenPipe(reading: both, writing: both)
    case .pipe(let reading, let writing):
      guard let readingEnd = Descriptor.inherited(reading),
        let writingEnd = Descriptor.inherited(writing)
      else { throw .descriptorsClosed(address) }
      guard isPipe(reading), isPipe(writing), writingEnd.isWritable else { throw .noPipe(address) }
      return TokenPipe(reading: reopened(readingEnd), writing: writingEnd)
    }
  }

  /// Creates a pipe, with the two ends that a program is to have.
  package static func made()
    throws(SystemError) -> (pipe: TokenPipe, reading: Descriptor, writing: Descriptor)
  {
    var ends: [Int32] = [-1, -1]
    _ = try checked(weft_pipe(&ends))
    let (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    return (TokenPipe(reading: reopened(reading), writing: writing), reading, writing)
  }

  /// Creates a FIFO that only its owner may open; the caller removes its name.
  package static func made(at path: String) throws(SystemError) -> TokenPipe {
    _ = try retrying { mkfifo(path, 0o600) }
    do throws(SystemError) {
      let both = try opened(path, O_RDWR)
      return TokenPipe(reading: both, writing: both)
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Takes a token if one is available now.
  package func take() -> UInt8? {
    var byte: UInt8 = 0
    guard (try? retrying({ read(reading.number, &byte, 1) })) == 1 else { return nil }
    return byte
  }

  /// Returns a token. The pipe never holds enough of them to block this.
  package func put(_ token: UInt8) {
    withUnsafeBytes(of: token) { _ = weft_write_quietly(writing.number, $0.baseAddress, 1) }
  }

  /// The byte that make writes.
  package static let token = UInt8(ascii: "+")

  private static func opened(_ path: String, _ mode: Int32) throws(SystemError) -> Descriptor {
    Descriptor(owning: try retrying { open(path, mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) })
  }

  /// Opens the end again: O_NONBLOCK belongs to the open file description, and setting it there would affect all
  /// processes that share it. On systems that cannot do this, reads may block.
  private static func reopened(_ end: Descriptor) -> Descriptor {
    (try? opened("/proc/self/fd/\(end.number)", O_RDONLY)) ?? end
  }

  private static func isPipe(_ number: Int32) -> Bool {
    var status = stat()
    return fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }
}
