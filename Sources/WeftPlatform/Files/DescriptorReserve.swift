import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A descriptor that is kept open, to be given up for another file when the process has no more of them.
package final class DescriptorReserve: Sendable {
  private let kept = Mutex<Descriptor?>(nil)

  package init() {}

  /// Opens the descriptor if it is not open. On failure, it is tried again after the next use.
  package func refill() { kept.withLock { DescriptorReserve.refill(&$0) } }

  /// Calls `body`, which may open one descriptor and must close it before it returns. Calls do not overlap.
  package func spend<Value, Failure: Error>(
    _ body: () throws(Failure) -> sending Value
  ) throws(Failure) -> sending Value {
    try kept.withLock { (kept) throws(Failure) in
      kept = nil
      defer { DescriptorReserve.refill(&kept) }
      return try body()
    }
  }

  private static func refill(_ kept: inout Descriptor?) {
    guard kept == nil else { return }
    let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
    if number >= 0 { kept = Descriptor(owning: number) }
  }
}
