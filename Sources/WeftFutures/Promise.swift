import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The obligation to settle a ``Future``: its write side.
///
/// The holder of a promise must give it an outcome, also after a cancellation. A promise that is released unsettled
/// settles itself with a default outcome: ``PromiseDroppedError`` if the failure type is `any Error` or
/// ``DropRepresentable``, and `ifDropped` otherwise. In debug builds it also reports the line that made it, because
/// that is a bug.
///
/// May be used from any thread.
public final class Promise<Value: Sendable, Failure: Error>: Sendable {
  /// The read side.
  public let future: Future<Value, Failure>
  private let ifDropped: @Sendable (PromiseDroppedError) -> Result<Value, Failure>
  private let file: StaticString
  private let line: UInt

  @usableFromInline
  init(
    _ future: Future<Value, Failure>, file: StaticString, line: UInt,
    whenDropped ifDropped: @escaping @Sendable (PromiseDroppedError) -> Result<Value, Failure>
  ) {
    self.future = future
    self.ifDropped = ifDropped
    self.file = file
    self.line = line
  }

  /// Creates a promise of any failure type, `Never` included.
  ///
  /// - Parameter ifDropped: The outcome if the promise is released unsettled.
  @inlinable
  public convenience init(
    ifDropped: Result<Value, Failure>, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(.pending(), file: file, line: line) { _ in ifDropped }
  }

  /// Creates a promise that calls `outcome` if it is released unsettled. A function that captures nothing needs no
  /// memory, and there may be very many promises.
  @inlinable
  package convenience init(
    file: StaticString = #fileID, line: UInt = #line,
    askingIfDropped outcome: @escaping @Sendable (PromiseDroppedError) -> Result<Value, Failure>
  ) {
    self.init(.pending(), file: file, line: line, whenDropped: outcome)
  }

  /// Creates a promise whose failure type can represent being dropped.
  @inlinable
  public convenience init(file: StaticString = #fileID, line: UInt = #line)
  where Failure: DropRepresentable {
    self.init(.pending(), file: file, line: line) { .failure(.promiseDropped($0)) }
  }

  /// Creates a promise that fails with ``PromiseDroppedError`` if it is dropped.
  @inlinable
  public convenience init(file: StaticString = #fileID, line: UInt = #line)
  where Failure == any Error {
    self.init(.pending(), file: file, line: line) { .failure($0) }
  }

  /// Not available: a failure type that cannot represent a dropped promise needs the other initializer.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: "pass ifDropped:, or make the failure type DropRepresentable"
  )
  public convenience init(file: StaticString = #fileID, line: UInt = #line, _: Void = ()) {
    fatalError("unavailable")
  }

  deinit {
    let cell: FutureCore = future.cell
    if !cell.isSettled { settleAsDropped() }
  }

  /// Separate from `deinit`, which would otherwise look up the outcome's type each time, settled or not.
  @inline(never)
  private func settleAsDropped() {
    let dropped = PromiseDroppedError(file: file.description, line: line)
    #if DEBUG
      dropped.report()
    #endif
    settle(ifDropped(dropped))
  }

  /// Settles the future with `outcome`. Only the first call counts.
  ///
  /// - Returns: Whether this was the first call.
  @inlinable
  @discardableResult
  public func settle(_ outcome: Result<Value, Failure>) -> Bool {
    let cell = future.cell
    return cell.settle { cell.outcome = outcome }
  }

  /// Settles with `value`, as ``settle(_:)``.
  @inlinable
  @discardableResult
  public func succeed(_ value: Value) -> Bool { settle(.success(value)) }

  /// Settles with `failure`, as ``settle(_:)``.
  @inlinable
  @discardableResult
  public func fail(_ failure: Failure) -> Bool { settle(.failure(failure)) }

  /// Whether the work has been asked to stop; never becomes false again.
  public var isCancelled: Bool { future.cell.isCancelled }

  /// Runs `handler` exactly once when the work is asked to stop, or now if it already was.
  ///
  /// Not run if the promise is settled first. There may be any number of handlers; they run in the order of their
  /// registration on the thread that cancels. The promise still has to be settled. Use the argument for that: a handler
  /// that captures its own promise keeps it from ever being dropped.
  public func onCancel(_ handler: @escaping @Sendable (Promise) -> Void) {
    future.cell.onCancel { [weak self] in
      if let self { handler(self) }
    }
  }

  /// Runs `handler` as the other ``onCancel(_:)`` does, for handlers that do not need the promise.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) { future.cell.onCancel(handler) }
}

extension Future where Failure == Never {
  /// A future that its maker settles with ``give(_:)``. It saves the second object of a ``Promise``, which notices when
  /// it is dropped: if this future is forgotten, its waiters wait forever.
  @inlinable
  package static func unsettled() -> Future { .pending() }

  /// Settles a future made by ``owed()``. Only the first call counts.
  @inlinable
  package func supply(_ value: Value) {
    let cell = cell
    _ = cell.settle { cell.outcome = .success(value) }
  }
}

extension Promise where Value == Void {
  /// Settles without a value, as ``settle(_:)``.
  @inlinable
  @discardableResult
  public func succeed() -> Bool { succeed(()) }
}

/// A promise was released without having been settled.
public struct PromiseDroppedError: Error, Hashable, CustomStringConvertible {
  /// The file that made the promise, in the form of `#fileID`.
  public let file: String
  /// The line that made the promise, from 1.
  public let line: UInt

  /// The handler of dropped promises, which replaces a line on standard error. For tests.
  ///
  /// Called in debug builds of this library only, on the thread that released the promise and before the promise
  /// settles. `nil` restores the line.
  public static var reporter: (@Sendable (PromiseDroppedError) -> Void)? {
    get { current.withLock { $0.reporter } }
    set { current.withLock { $0.reporter = newValue } }
  }

  /// One sentence with the location.
  public var description: String { "promise made at \(file):\(line) was dropped unsettled" }

  /// A struct, because a bare closure in a mutex is wrapped in one more thunk at each read (Swift 6.3).
  private struct Current {
    var reporter: (@Sendable (PromiseDroppedError) -> Void)?
  }

  private static let current = Mutex(Current())

  func report() {
    if let reporter = Self.reporter { return reporter(self) }
    var text = description + "\n"
    text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

/// A failure type that can represent a dropped promise, so that its promises need no `ifDropped`.
public protocol DropRepresentable: Error {
  /// The failure with which a dropped promise settles.
  static func promiseDropped(_ dropped: PromiseDroppedError) -> Self
}

extension PromiseDroppedError: DropRepresentable {
  public static func promiseDropped(_ dropped: PromiseDroppedError) -> PromiseDroppedError {
    dropped
  }
}
