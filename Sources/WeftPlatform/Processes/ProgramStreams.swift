import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The pipes between a program and the thread that runs it.
struct ProgramStreams: ~Copyable {
  /// The engine's ends; `nil` after the end of the stream.
  var output: Descriptor? = nil
  var errors: Descriptor? = nil
  var feed: InputFeed? = nil

  /// The program's ends, which the engine holds only until the program has started.
  private var given = Given()

  private struct Given {
    var input: Descriptor? = nil
    var output: Descriptor? = nil
    var errors: Descriptor? = nil
  }

  private(set) var programInput: Int32 = -1
  private(set) var programOutput: Int32 = -1
  private(set) var programErrors: Int32 = -1

  /// The terminal that becomes the program's controlling one; negative if there is none.
  private(set) var terminal: Int32 = -1

  /// Streams that use a terminal in place of pipes: there is no output to read.
  init(terminal: Descriptor) {
    self.terminal = terminal.number
    programInput = terminal.number
    programOutput = terminal.number
    programErrors = terminal.number
  }

  init(input: ChildProgram.Input, merged: Bool) throws(SystemError) {
    switch input {
    case .null: programInput = try NullDevice.descriptor()
    case .file(let file): programInput = file.number
    case .bytes(let bytes):
      let ends = try Self.pipe()
      programInput = ends.reading
      given.input = Descriptor(owning: ends.reading)
      feed = InputFeed(bytes, to: Descriptor(owning: ends.writing))
    }
    let ends = try Self.pipe()
    programOutput = ends.writing
    given.output = Descriptor(owning: ends.writing)
    output = Descriptor(owning: ends.reading)
    guard !merged else {
      programErrors = ends.writing
      return
    }
    let errorEnds = try Self.pipe()
    programErrors = errorEnds.writing
    given.errors = Descriptor(owning: errorEnds.writing)
    errors = Descriptor(owning: errorEnds.reading)
  }

  /// Closes the program's ends; otherwise the output would never end.
  mutating func closeProgramEnds() { given = Given() }

  /// The descriptor to poll; negative after the end of the stream.
  var outputNumber: Int32 { output?.number ?? -1 }
  var errorsNumber: Int32 { errors?.number ?? -1 }
  var feedNumber: Int32 {
    switch feed {
    case .some(let feed): feed.descriptor.number
    case nil: -1
    }
  }

  private static func pipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
    var ends: (Int32, Int32) = (-1, -1)
    _ = try withUnsafeMutablePointer(to: &ends) { ends throws(SystemError) in
      try ends.withMemoryRebound(to: Int32.self, capacity: 2) { ends throws(SystemError) in
        try checked(weft_pipe(ends))
      }
    }
    return ends
  }
}

/// Bytes being written to a program's standard input.
struct InputFeed: ~Copyable {
  let descriptor: Descriptor
  private let bytes: [UInt8]
  private var sent = 0

  init(_ bytes: [UInt8], to descriptor: Descriptor) {
    self.bytes = bytes
    self.descriptor = descriptor
    // The reading end is not affected: each end of a pipe has its own flags.
    _ = fcntl(self.descriptor.number, F_SETFL, O_NONBLOCK)
  }

  /// Writes as much as the pipe takes now; false when all is written or the program no longer reads.
  mutating func sendSome() -> Bool {
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { all in
        weft_write_quietly(descriptor.number, all.baseAddress! + sent, all.count - sent)
      }
      if count >= 0 {
        sent += count
        continue
      }
      switch SystemError(number: Int32(count)) {
      case .interrupted: continue
      case .wouldBlock: return true
      default: return false
      }
    }
    return false
  }
}

/// `/dev/null`, opened once and shared by all programs.
enum NullDevice {
  static func descriptor() throws(SystemError) -> Int32 {
    let known = opened.load(ordering: .acquiring)
    if known >= 0 { return known }
    let number = try retrying { open("/dev/null", O_RDONLY | O_CLOEXEC) }
    let (exchanged, other) = opened.compareExchange(
      expected: -1, desired: number, ordering: .acquiringAndReleasing)
    if exchanged { return number }
    close(number)
    return other
  }

  private static let opened = Atomic<Int32>(-1)
}
