import CWeftCurl
import Synchronization
import WeftHTTP

/// Orders from other threads to the one that drives libcurl.
final class Mailbox: Sendable {
  enum Order: Sendable {
    case start(CurlStart)
    case cancel(Int)
    /// There is room for the response body again, or there are request bytes to send.
    case resume(Int)
    case fail(Int, HTTPFailure.Kind)
    case close
  }

  /// The reply to an order.
  enum Reply {
    case accepted
    /// Accepted, but there is no thread yet: the caller must start one.
    case needsThread
    case isClosed
  }

  private struct State: Sendable {
    var orders: [Order] = []
    var hasThread = false
    var isClosed = false
    var loop: LoopPointer?
    /// Whether the loop waits or is about to, and has not been woken.
    var isWaiting = false
  }

  /// Only used to wake the loop, which libcurl allows from any thread while the loop exists. It is used under the
  /// lock, and cleared under the lock before the loop is destroyed.
  private struct LoopPointer: @unchecked Sendable {
    let pointer: OpaquePointer
  }

  private let state = Mutex(State())

  func post(_ order: Order) -> Reply {
    state.withLock { state in
      if state.isClosed { return .isClosed }
      state.orders.append(order)
      if state.isWaiting, let loop = state.loop {
        weft_curl_wake(loop.pointer)
        state.isWaiting = false
      }
      defer { state.hasThread = true }
      return state.hasThread ? .accepted : .needsThread
    }
  }

  func take() -> [Order] {
    state.withLock { state in
      state.isWaiting = false
      defer { state.orders = [] }
      return state.orders
    }
  }

  /// Returns whether the loop may wait: there are no orders, and the next one will wake it.
  func beginWaiting() -> Bool {
    state.withLock { state in
      state.isWaiting = state.orders.isEmpty
      return state.isWaiting
    }
  }

  /// Sets the loop to wake.
  func attach(_ loop: OpaquePointer) {
    state.withLock { $0.loop = LoopPointer(pointer: loop) }
  }

  /// Stops accepting orders and waking the loop.
  ///
  /// - Returns: The orders accepted so far.
  func close() -> [Order] {
    state.withLock { state in
      state.isClosed = true
      state.loop = nil
      defer { state.orders = [] }
      return state.orders
    }
  }
}
