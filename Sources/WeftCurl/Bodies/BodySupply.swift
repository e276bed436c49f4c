import Synchronization
import WeftHTTP
import WeftPlatform

/// The bytes that are ready of a body read from files: the chunk being sent, and the next one.
struct SupplyState: Sendable {
  enum Delivery {
    /// Empty at the end of the body.
    case bytes(ArraySlice<UInt8>)
    /// More bytes will come, and the sender waits for a notification.
    case later
    case failed(HTTPFailure.Kind)
  }

  private var current: ArraySlice<UInt8> = []
  private var following: ArraySlice<UInt8>?
  private var isReading = false
  private var isAtEnd = false
  private var isAwaited = false
  private var failure: HTTPFailure.Kind?

  /// - Returns: The bytes to send, and whether the caller must read another chunk meanwhile.
  mutating func take(atMost room: Int) -> (delivery: Delivery, reads: Bool) {
    if current.isEmpty, let following {
      current = following
      self.following = nil
    }
    let reads = !isReading && !isAtEnd && following == nil
    if reads { isReading = true }
    guard current.isEmpty else {
      defer { current = current.dropFirst(room) }
      return (.bytes(current.prefix(room)), reads)
    }
    if let failure { return (.failed(failure), reads) }
    if isAtEnd { return (.bytes([]), reads) }
    isAwaited = true
    return (.later, reads)
  }

  /// - Parameter chunk: Empty at the end of the body.
  /// - Returns: Whether the sender waits for it.
  mutating func add(_ chunk: Result<ArraySlice<UInt8>, HTTPFailure.Kind>) -> Bool {
    isReading = false
    switch chunk {
    case .success(let bytes) where !bytes.isEmpty: following = bytes
    case .success: isAtEnd = true
    case .failure(let kind): (isAtEnd, failure) = (true, kind)
    }
    defer { isAwaited = false }
    return isAwaited
  }
}

/// Passes a body from a thread that may block on a disk to the one that sends it.
final class BodySupply: Sendable {
  private let state = Mutex(SupplyState())
  private let cursor: Mutex<BodyCursor>
  private let threads: ThreadPool
  private let report: @Sendable () -> Void

  static let chunkBytes = 256 * 1024

  /// - Parameter tell: Called on another thread when bytes arrive after there were none.
  init(_ body: OpenedBody, threads: ThreadPool, report: @escaping @Sendable () -> Void) {
    cursor = Mutex(BodyCursor(body))
    self.threads = threads
    self.report = report
  }

  func take(atMost room: Int) -> SupplyState.Delivery {
    let (delivery, reads) = state.withLock { $0.take(atMost: room) }
    if reads { read() }
    return delivery
  }

  private func read() {
    do {
      try threads.submit { [self] in
        add(
          cursor.withLock { cursor in
            Result { () throws(HTTPFailure.Kind) in try cursor.next(atMost: Self.chunkBytes) }
          })
      }
    } catch {
      add(.failure(.other(error.message)))
    }
  }

  private func add(_ chunk: Result<ArraySlice<UInt8>, HTTPFailure.Kind>) {
    if state.withLock({ $0.add(chunk) }) { report() }
  }
}
