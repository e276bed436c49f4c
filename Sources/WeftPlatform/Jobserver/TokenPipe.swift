import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Why a jobserver that was offered is of no use.
package enum JobserverUnavailable: Error, Hashable, Sendable {
  /// make keeps its descriptors from what it does not take for another make.
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

/// A pipe in which each byte is the permission to run one more job.
package final class TokenPipe: Sendable {
  /// Ours alone, so that reads do not wait; whoever else has the pipe open goes on waiting.
  let reading: Descriptor
  private let writing: Descriptor

  private init(reading: Descriptor, writing: Descriptor) {
    self.reading = reading
    self.writing = writing
  }

  /// One that somebody else made.
  package static func joined(
    _ address: JobserverAddress
  ) throws(JobserverUnavailable) -> TokenPipe {
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

  /// A new pipe, and the two ends of it that a program is to have.
  package static func made()
    throws(SystemError) -> (pipe: TokenPipe, reading: Descriptor, writing: Descriptor)
  {
    var ends: [Int32] = [-1, -1]
    _ = try checked(weft_pipe(&ends))
    let (reading, writing) = (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    return (TokenPipe(reading: reopened(reading), writing: writing), reading, writing)
  }

  /// A new FIFO. It is for its owner alone; whoever made it removes its name.
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

  /// Takes a token if there is one at this moment.
  package func take() -> UInt8? {
    var byte: UInt8 = 0
    guard (try? retrying({ read(reading.number, &byte, 1) })) == 1 else { return nil }
    return byte
  }

  /// Puts a token in. There are never so many that it would have to wait.
  package func put(_ token: UInt8) {
    withUnsafeBytes(of: token) { _ = weft_write_quietly(writing.number, $0.baseAddress, 1) }
  }

  /// What make writes.
  package static let token = UInt8(ascii: "+")

  private static func opened(_ path: String, _ mode: Int32) throws(SystemError) -> Descriptor {
    Descriptor(owning: try retrying { open(path, mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) })
  }

  /// Opened anew: O_NONBLOCK belongs to what was opened, and set there it would be everybody's. Where the
  /// system opens nothing anew the reads may wait.
  private static func reopened(_ end: Descriptor) -> Descriptor {
    (try? opened("/proc/self/fd/\(end.number)", O_RDONLY)) ?? end
  }

  private static func isPipe(_ number: Int32) -> Bool {
    var status = stat()
    return fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }
}
