import CWeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason why the bytes of a claimed descriptor could not be read.
package enum DescriptorReadError: Error, Hashable, Sendable {
  case tooLarge(limit: Int)
  /// The writer had not closed it in time.
  case timedOut
  case stopped
  case system(SystemError)
}

extension Descriptor {
  /// Takes over descriptors that the parent of this process left open: from now on they have other numbers, no program
  /// inherits them, and each is closed with its last reference. Descriptors that are not open are omitted.
  package static func claiming(_ numbers: Set<Int32>) -> [Int32: Descriptor] {
    var claimed: [Int32: Descriptor] = [:]
    let free = (numbers.max() ?? 0) + 1
    for number in numbers {
      let copy = fcntl(number, F_DUPFD_CLOEXEC, free)
      guard copy >= 0 else { continue }
      close(number)
      claimed[number] = Descriptor(owning: copy)
    }
    return claimed
  }

  /// Reads all bytes to the end. Blocks the thread.
  package func readToEnd(
    limit: Int, stop: StopSwitch, until time: Duration
  ) throws(DescriptorReadError) -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      guard stop.level == .none else { throw .stopped }
      // Other processes may share the open file, so it cannot be made non-blocking.
      guard weft_poll_one(number, Int16(POLLIN), Self.askingMilliseconds) > 0 else {
        if MonotonicClock.now >= time { throw .timedOut }
        continue
      }
      let piece: [UInt8]
      do { piece = try readPiece(atMost: limit + 1 - bytes.count) } catch { throw .system(error) }
      if piece.isEmpty { return bytes }
      bytes += piece
      if bytes.count > limit { throw .tooLarge(limit: limit) }
    }
  }

  private static let askingMilliseconds: Int32 = 20

  /// Reads the next bytes; none at the end.
  private func readPiece(atMost room: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      do throws(SystemError) {
        count = try retrying { read(number, buffer.baseAddress, room) }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return piece
  }
}
