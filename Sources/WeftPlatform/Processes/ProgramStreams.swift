import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The pipes between a program and the thread that runs it.
struct ProgramStreams: ~Copyable {
  /// Ours; `nil` once at its end.
  var output: OwnedDescriptor? = nil
  var errors: OwnedDescriptor? = nil
  var feed: InputFeed? = nil

  /// The program's, and ours only until it has started.
  private var given = Given()

  private struct Given: ~Copyable {
    var input: OwnedDescriptor? = nil
    var output: OwnedDescriptor? = nil
    var errors: OwnedDescriptor? = nil
  }

  private(set) var programInput: Int32 = -1
  private(set) var programOutput: Int32 = -1
  private(set) var programErrors: Int32 = -1

  /// That the program is to have as its own; else negative.
  private(set) var terminal: Int32 = -1

  /// A terminal in place of pipes: there is nothing to read.
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
      given.input = OwnedDescriptor(ends.reading)
      feed = InputFeed(bytes, to: OwnedDescriptor(ends.writing))
    }
    let ends = try Self.pipe()
    programOutput = ends.writing
    given.output = OwnedDescriptor(ends.writing)
    output = OwnedDescriptor(ends.reading)
    guard !merged else {
      programErrors = ends.writing
      return
    }
    let errorEnds = try Self.pipe()
    programErrors = errorEnds.writing
    given.errors = OwnedDescriptor(errorEnds.writing)
    errors = OwnedDescriptor(errorEnds.reading)
  }

  /// Without this the end of its output would never come.
  mutating func closeProgramEnds() { given = Given() }

  /// The descriptors to poll; negative when at their end.
  var outputNumber: Int32 {
    switch output {
    case .some(let output): output.number
    case nil: -1
    }
  }
  var errorsNumber: Int32 {
    switch errors {
    case .some(let errors): errors.number
    case nil: -1
    }
  }
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

/// Bytes on their way into a program's standard input.
struct InputFeed: ~Copyable {
  let descriptor: OwnedDescriptor
  private let bytes: [UInt8]
  private var sent = 0

  init(_ bytes: [UInt8], to descriptor: consuming OwnedDescriptor) {
    self.bytes = bytes
    self.descriptor = descriptor
    // The reading end is not affected: each end of a pipe has flags of its own.
    _ = fcntl(self.descriptor.number, F_SETFL, O_NONBLOCK)
  }

  /// Sends what the pipe takes now; false when all is sent or the program reads no more.
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
