import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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
