import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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
