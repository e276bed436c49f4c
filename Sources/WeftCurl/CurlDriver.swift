import CWeftCurl
import Synchronization
import WeftFutures
import WeftHTTP
import WeftPlatform

/// The thread that drives libcurl. All of its state is confined to that thread.
final class CurlDriver {
  private let loop: OpaquePointer
  private let mailbox: Mailbox
  private let threads: ThreadPool
  private let clock = LoopClock()
  private let callbacks = CurlCallbacks()
  private let abandonsLookups: Bool
  private var exchanges: [Int: CurlExchange] = [:]
  /// The number of exchanges that may share connections, by origin.
  private var sharing: [HTTPURL.Origin: Int] = [:]
  /// The exchanges that have ended, but cannot be removed before their name lookup finishes.
  private var abandoned: [Int: CurlExchange] = [:]
  /// Transfers kept for later requests, because they keep their tuned sizes and buffers.
  private var spare: [OpaquePointer] = []
  /// The earliest time at which an exchange can be overdue.
  private var nextCheck: Duration?
  private var isClosed = false

  /// The number of idle transfers and connections to keep: the largest number used concurrently.
  private var kept = 0
  private static let leastKept = 64

  /// Processes orders from the mailbox until it is closed.
  static func run(
    _ mailbox: Mailbox, threads: ThreadPool, abandonsLookups: Bool?
  ) {
    do throws(HTTPFailure.Kind) {
      try CurlLibrary.open()
      guard let loop = weft_curl_loop_create() else {
        throw .other("libcurl has no memory or descriptors for its loop")
      }
      mailbox.attach(loop)
      let abandonsLookups = abandonsLookups ?? (weft_curl_leaves_lookups() != 0)
      CurlDriver(loop, mailbox, threads, abandonsLookups).drive()
      weft_curl_loop_destroy(loop)
    } catch {
      refuse(mailbox.close(), error)
    }
  }

  static func refuse(_ orders: [Mailbox.Order], _ kind: HTTPFailure.Kind) {
    for case .start(let start) in orders { start.fail(kind) }
  }

  private init(
    _ loop: OpaquePointer, _ mailbox: Mailbox, _ threads: ThreadPool, _ abandonsLookups: Bool
  ) {
    self.loop = loop
    self.mailbox = mailbox
    self.threads = threads
    self.abandonsLookups = abandonsLookups
    keep(Self.leastKept)
  }

  private func drive() {
    while !isClosed {
      clock.begin()
      for order in mailbox.take() { execute(order) }
      let broken = weft_curl_perform(loop)
      endFinished()
      endOverdue()
      // The state of libcurl cannot be trusted any more.
      if broken != 0 { return shutDown(.other("libcurl's loop failed with code \(broken)")) }
      if !isClosed, mailbox.beginWaiting() { _ = weft_curl_wait(loop, pause()) }
    }
    shutDown(.cancelled)
  }

  private func execute(_ order: Mailbox.Order) {
    switch order {
    case .start(let start): begin(start)
    case .cancel(let id): end(id, .failed(.cancelled))
    case .fail(let id, let kind): end(id, .failed(kind))
    case .resume(let id): resume(id)
    case .close: isClosed = true
    }
  }

  // MARK: Beginning

  private func begin(_ start: CurlStart) {
    if start.promise.isCancelled || isClosed { return start.fail(.cancelled) }
    guard let transfer = spare.popLast() ?? weft_curl_transfer_create() else {
      return start.fail(.other("libcurl has no memory for a request"))
    }
    let exchange = CurlExchange(
      start, transfer: transfer, clock: clock, mailbox: mailbox, threads: threads)
    let isAlone = exchange.sharedOrigin.map { sharing[$0] == nil } ?? true
    let failed = exchange.configure(callbacks, isAlone: isAlone)
    guard failed == 0, weft_curl_add(loop, transfer) == 0 else {
      let why = String(cString: weft_curl_code_text(failed))
      weft_curl_transfer_destroy(transfer)
      return start.fail(.other("libcurl rejects the request: \(why)"))
    }
    exchanges[start.id] = exchange
    if exchanges.count > kept { keep(2 * kept) }
    if let origin = exchange.sharedOrigin { sharing[origin, default: 0] += 1 }
    advance(at: exchange)
  }

  private func resume(_ id: Int) {
    guard let exchange = exchanges[id] else { return }
    exchange.release()
    advance(at: exchange)
    let code = weft_curl_resume(exchange.transfer)
    if code != 0 { end(id, .returned(Int(code))) }
  }

  // MARK: Ending

  private func endFinished() {
    var code: Int32 = 0
    while let context = weft_curl_next_ended(loop, &code) {
      let exchange = Unmanaged<CurlExchange>.fromOpaque(context).takeUnretainedValue()
      end(exchange.id, .returned(Int(code)))
    }
  }

  private func endOverdue() {
    guard let due = nextCheck, clock.now >= due else { return }
    nextCheck = nil
    for (id, exchange) in exchanges {
      if let kind = exchange.overdue() {
        end(id, .failed(kind))
      } else {
        advance(at: exchange)
      }
    }
  }

  private func end(_ id: Int, _ ending: CurlExchange.Ending) {
    if case .returned = ending, let exchange = abandoned.removeValue(forKey: id) {
      return retire(exchange)
    }
    guard let exchange = exchanges.removeValue(forKey: id) else { return }
    if let origin = exchange.sharedOrigin, let count = sharing[origin] {
      sharing[origin] = count > 1 ? count - 1 : nil
    }
    let report = exchange.report()
    if case .failed = ending, !abandonsLookups, !isClosed, report.name_resolved == 0 {
      exchange.conclude(ending, report)
      exchange.abandon()
      abandoned[id] = exchange
      return
    }
    weft_curl_remove(loop, exchange.transfer)
    exchange.conclude(ending, report)
    recycle(exchange.transfer)
  }

  private func retire(_ exchange: CurlExchange) {
    weft_curl_remove(loop, exchange.transfer)
    recycle(exchange.transfer)
  }

  private func recycle(_ transfer: OpaquePointer) {
    if spare.count < kept {
      spare.append(transfer)
    } else {
      weft_curl_transfer_destroy(transfer)
    }
  }

  private func keep(_ count: Int) {
    kept = count
    weft_curl_keep_connections(loop, count)
  }

  private func shutDown(_ kind: HTTPFailure.Kind) {
    Self.refuse(mailbox.close(), kind)
    isClosed = true
    for id in exchanges.keys.sorted() { end(id, .failed(kind)) }
    for exchange in abandoned.values { retire(exchange) }
    for transfer in spare { weft_curl_transfer_destroy(transfer) }
  }

  // MARK: Time

  private func advance(at exchange: CurlExchange) {
    guard let due = exchange.watch.nextCheck else { return }
    nextCheck = nextCheck.map { min($0, due) } ?? due
  }

  /// The milliseconds until the next deadline, rounded up. libcurl may return earlier for reasons of its own.
  private func pause() -> Int32 {
    guard let nextCheck else { return Self.longestPause }
    let left = max(.zero, nextCheck - MonotonicClock.now)
    let (whole, fraction) = left.components
    guard whole < 60 else { return Self.longestPause }
    return Int32(whole * 1000 + (fraction + 999_999_999_999_999) / 1_000_000_000_000_000)
  }

  private static let longestPause: Int32 = 60_000
}

/// The time of the loop's current iteration: precise enough, and read once for all exchanges.
final class LoopClock {
  private(set) var now = MonotonicClock.now
  /// The number of the iteration.
  private(set) var turn = 0

  func begin() {
    now = MonotonicClock.now
    turn += 1
  }
}

/// The number of pieces of a body that an exchange may take in one iteration of the loop. libcurl passes on each chunk of
/// a chunked body by itself and handles many buffers of one transfer at once, so a server that sends chunks of one byte
/// could keep all others waiting for seconds.
struct TurnBudget {
  /// More than there are pieces in an iteration if they are as large as the buffer.
  static let pieces = 1000

  private var turn = 0
  private var taken = 0

  /// Returns false if the exchange has to wait for the next iteration.
  mutating func take(in turn: Int) -> Bool {
    if turn != self.turn { (self.turn, taken) = (turn, 0) }
    taken += 1
    return taken <= TurnBudget.pieces
  }
}

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

  /// The loop of libcurl, as other threads know it.
  ///
  /// `@unchecked Sendable`: the pointer never changes, and only wakes the loop, which libcurl allows from any thread while
  /// the loop exists. It exists: the pointer is used under the lock of `state`, and cleared under that lock before the loop
  /// is destroyed.
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
