import CWeftCurl
import Synchronization

/// What other threads ask of the one that drives libcurl.
final class Mailbox: Sendable {
  enum Order: Sendable {
    case start(CurlStart)
    case cancel(Int)
    /// There is room for the body again, or there are bytes of it to send.
    case resume(Int)
    case fail(Int, HTTPFailure.Kind)
    case close
  }

  /// Whether an order will be carried out.
  enum Reply {
    case accepted
    /// It will, once a thread does: there is none, and the caller is to make it.
    case needsThread
    case isClosed
  }

  private struct State: Sendable {
    var orders: [Order] = []
    var hasThread = false
    var isClosed = false
    var loop: LoopPointer?
    /// Whether the loop is about to wait, or waits, and has not been woken.
    var isWaiting = false
  }

  /// Only for waking, which libcurl allows from any thread as long as the loop is there; it is used inside the
  /// lock, and taken away inside it before the loop is destroyed.
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

  /// Whether the loop may wait: there are no orders, and one that comes from now on wakes it.
  func beginWaiting() -> Bool {
    state.withLock { state in
      state.isWaiting = state.orders.isEmpty
      return state.isWaiting
    }
  }

  /// The loop that is to be woken.
  func attach(_ loop: OpaquePointer) {
    state.withLock { $0.loop = LoopPointer(pointer: loop) }
  }

  /// Nothing is accepted any more, and the loop is not woken.
  ///
  /// - Returns: What had been accepted.
  func close() -> [Order] {
    state.withLock { state in
      state.isClosed = true
      state.loop = nil
      defer { state.orders = [] }
      return state.orders
    }
  }
}
