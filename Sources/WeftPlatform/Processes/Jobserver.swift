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
    case .noPipe(let address): "\(address.text) is not a pipe"
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

/// A wait of one thread for a token in any of several pipes.
package final class TokenWatch: Sendable {
  private let wakeEnd: Descriptor
  private let signalEnd: Descriptor

  package init() throws(SystemError) {
    var ends: (wait: Int32, signal: Int32) = (-1, -1)
    _ = try checked(weft_wake_open(&ends.wait, &ends.signal))
    wakeEnd = Descriptor(owning: ends.wait)
    signalEnd = ends.signal == ends.wait ? wakeEnd : Descriptor(owning: ends.signal)
  }

  /// Ends the wait, or the next one.
  package func wake() { weft_wake_signal(signalEnd.number) }

  /// Waits until one of the pipes may have a token, or until woken.
  ///
  /// - Returns: The index of the pipe; `nil` after a wake.
  package func wait(for pipes: [TokenPipe]) -> Int? {
    let numbers = [wakeEnd.number] + pipes.map(\.reading.number)
    var polls = numbers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard weft_poll(&polls, UInt32(polls.count), -1) > 0 else { return nil }
    guard polls[0].revents == 0 else {
      weft_wake_drain(wakeEnd.number)
      return nil
    }
    return polls.dropFirst().firstIndex { $0.revents != 0 }.map { $0 - 1 }
  }
}

/// The address of a jobserver, in the form of GNU make (manual, "POSIX Jobserver Interaction").
package enum JobserverAddress: Hashable, Sendable {
  case fifo(String)
  case pipe(reading: Int32, writing: Int32)

  /// Parses an address; `nil` for other text, and for the negative numbers with which make reports that there is none.
  init?(_ text: some StringProtocol) {
    if text.hasPrefix("fifo:") {
      self = .fifo(String(text.dropFirst("fifo:".count)))
      return
    }
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int32($0) }
    guard numbers.count == 2, let reading = numbers[0], let writing = numbers[1],
      reading >= 0, writing >= 0
    else { return nil }
    self = .pipe(reading: reading, writing: writing)
  }

  package var text: String {
    switch self {
    case .fifo(let path): "fifo:\(path)"
    case .pipe(let reading, let writing): "\(reading),\(writing)"
    }
  }
}

/// The value of `MAKEFLAGS`: words, of which those after `--` are variable definitions.
package struct MakeFlags: Sendable, Hashable {
  private var options: [Substring]
  private let definitions: ArraySlice<Substring>

  package init(_ text: String) {
    let words = text.split(separator: " ")
    let end = words.firstIndex(of: "--") ?? words.endIndex
    options = Array(words[..<end])
    definitions = words[end...]
  }

  /// The last jobserver that is offered; `nil` if there is none.
  package var jobserver: JobserverAddress? {
    let values = options.compactMap { option in
      Self.addressOptions.first(where: option.hasPrefix).map { option.dropFirst($0.count) }
    }
    return values.last.flatMap { JobserverAddress($0) }
  }

  /// The flags without options about the number of jobs and about jobservers; `nil` if none are left.
  package var withoutJobs: String? {
    let words = options.filter { !Self.setsJobs($0) } + definitions
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  /// The flags with this jobserver in place of any other.
  package func offering(_ address: JobserverAddress, jobs: Int) -> String {
    // The first word may be letters without a hyphen, and must remain the first.
    let kept = options.filter { !Self.setsJobs($0) }.map(String.init)
    let offer = ["-j\(jobs)", "--jobserver-auth=\(address.text)"]
    return (kept + offer + definitions.map(String.init)).joined(separator: " ")
  }

  /// `--jobserver-fds` is the form of make 4.1 and older.
  private static let addressOptions = ["--jobserver-auth=", "--jobserver-fds="]

  private static func setsJobs(_ option: Substring) -> Bool {
    option.hasPrefix("--jobserver") || option.hasPrefix("--jobs")
      || option.hasPrefix("-j") && option.dropFirst(2).allSatisfy(\.isNumber)
  }
}
