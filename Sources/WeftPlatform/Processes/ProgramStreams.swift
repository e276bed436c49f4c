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

  init(input: ChildProgram.Input, merged: Bool) throws(SpawnError) {
    switch input {
    case .null:
      do { programInput = try NullDevice.descriptor() } catch {
        throw error.isShortage ? .resources(error) : .nullDevice(error)
      }
    case .file(let file): programInput = file.number
    case .bytes, .held: break
    }
    do { try connect(input, merged: merged) } catch { throw .resources(error) }
  }

  private mutating func connect(
    _ input: ChildProgram.Input, merged: Bool
  ) throws(SystemError) {
    switch input {
    case .null, .file: break
    case .bytes(let bytes): try addFeed(bytes, isHeld: false)
    case .held(let bytes): try addFeed(bytes, isHeld: true)
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

  private mutating func addFeed(_ bytes: [UInt8], isHeld: Bool) throws(SystemError) {
    let ends = try Self.pipe()
    programInput = ends.reading
    given.input = Descriptor(owning: ends.reading)
    feed = InputFeed(bytes, to: Descriptor(owning: ends.writing), isHeld: isHeld)
  }

  /// Closes the program's ends; otherwise the output would never end.
  mutating func closeProgramEnds() { given = Given() }

  /// The descriptor to poll; negative after the end of the stream.
  var outputNumber: Int32 { output?.number ?? -1 }
  var errorsNumber: Int32 { errors?.number ?? -1 }
  var feedNumber: Int32 {
    switch feed {
    case .some(let feed): feed.isSent ? -1 : feed.descriptor.number
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
  private let isHeld: Bool
  private var sent = 0
  /// Whether all is written, or the program no longer reads, and the pipe is held open.
  private(set) var isSent = false

  /// - Parameter isHeld: Whether the pipe stays open after the bytes.
  init(_ bytes: [UInt8], to descriptor: Descriptor, isHeld: Bool) {
    self.bytes = bytes
    self.isHeld = isHeld
    self.descriptor = descriptor
    // The reading end is not affected: each end of a pipe has its own flags.
    _ = fcntl(self.descriptor.number, F_SETFL, O_NONBLOCK)
  }

  /// Writes as much as the pipe takes now; false when the pipe is to be closed.
  mutating func sendSome() -> Bool {
    if sendPart() { return true }
    isSent = true
    return isHeld
  }

  /// False when all is written or the program no longer reads.
  private mutating func sendPart() -> Bool {
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

/// The resources that a thread keeps between the programs it runs: a wake descriptor and a buffer for output. Belongs
/// to its thread and is released with it.
final class ProgramSlot {
  /// Readable after a write to `signal`.
  let wake: Descriptor
  private let separateSignal: Descriptor?
  private(set) var buffer: UnsafeMutableRawBufferPointer
  let polls = PollSet()

  /// A pipe's capacity, so that one read empties it.
  static let bufferBytes = 64 * 1024
  /// The size of pipe and buffer once a program has filled a pipe: 1 MiB doubles the throughput (it is the largest size
  /// that Linux allows without privilege, `/proc/sys/fs/pipe-max-size`).
  static let largeBufferBytes = 1024 * 1024

  private init() throws(SystemError) {
    var ends: (wait: Int32, signal: Int32) = (-1, -1)
    _ = try checked(weft_wake_open(&ends.wait, &ends.signal))
    wake = Descriptor(owning: ends.wait)
    separateSignal = ends.signal == ends.wait ? nil : Descriptor(owning: ends.signal)
    buffer = .allocate(byteCount: Self.bufferBytes, alignment: 4096)
  }

  deinit {
    buffer.deallocate()
    polls.deallocate()
  }

  var signal: Int32 { (separateSignal ?? wake).number }

  func enlargeBuffer() {
    guard buffer.count < Self.largeBufferBytes else { return }
    buffer.deallocate()
    buffer = .allocate(byteCount: Self.largeBufferBytes, alignment: 4096)
  }

  /// Sleeps until the time, or until this thread is woken.
  func sleep(until time: Duration?) {
    for place in PollSet.Place.allCases { polls.watch(place, -1, for: 0) }
    polls.watch(.wake, wake.number, for: POLLIN)
    polls.poll(until: time)
    if polls[.wake].revents != 0 { weft_wake_drain(wake.number) }
  }

  /// The calling thread's slot, created on first use.
  static func ofThisThread() throws(SystemError) -> ProgramSlot {
    if let known = local.value {
      return Unmanaged<ProgramSlot>.fromOpaque(known).takeUnretainedValue()
    }
    let slot = try ProgramSlot()
    local.value = Unmanaged.passRetained(slot).toOpaque()
    return slot
  }

  private static let local = ThreadLocal { slot in
    guard let slot else { return }
    Unmanaged<ProgramSlot>.fromOpaque(slot).release()
  }
}

/// The descriptors to poll while a program runs.
struct PollSet {
  enum Place: Int, CaseIterable {
    case output, errors, feed, exit, wake
  }

  private let entries: UnsafeMutablePointer<pollfd>

  init() {
    entries = .allocate(capacity: Place.allCases.count)
    entries.initialize(
      repeating: pollfd(fd: -1, events: 0, revents: 0), count: Place.allCases.count)
  }

  func deallocate() { entries.deallocate() }

  subscript(place: Place) -> pollfd { entries[place.rawValue] }

  /// A negative `number` is not watched (POSIX `poll`).
  func watch(_ place: Place, _ number: Int32, for events: Int32) {
    entries[place.rawValue] = pollfd(fd: number, events: Int16(events), revents: 0)
  }

  /// Returns when something happened, at the time, or when a signal interrupts it; then nothing is ready.
  func poll(until time: Duration?) {
    let count = UInt32(Place.allCases.count)
    guard weft_poll(entries, count, Self.nanoseconds(until: time)) < 0 else { return }
    for place in Place.allCases { entries[place.rawValue].revents = 0 }
  }

  private static func nanoseconds(until time: Duration?) -> Int64 {
    guard let time else { return -1 }
    let left = (time - MonotonicClock.now).components
    guard left.seconds >= 0, left.attoseconds >= 0 else { return 0 }
    // Rounded up, so that the time has come when the poll returns; a century is as good as more.
    return min(left.seconds, 3_000_000_000) * 1_000_000_000 + left.attoseconds / 1_000_000_000 + 1
  }
}
