/// The obligation to settle a ``Future``: its write side.
///
/// Whoever holds a promise owes an outcome, also after a cancellation. One that is released without
/// having been settled settles by itself, with the outcome that it was made to know: ``PromiseDropped``
/// where the failure type is `any Error` or ``DropRepresentable``, and `ifDropped` otherwise. In debug
/// builds it also reports the line that made it, since that is a mistake.
///
/// May be used from any thread.
public final class Promise<Value: Sendable, Failure: Error>: Sendable {
  /// The read side.
  public let future: Future<Value, Failure>
  private let ifDropped: @Sendable (PromiseDropped) -> Result<Value, Failure>
  private let file: StaticString
  private let line: UInt

  @usableFromInline
  init(
    _ future: Future<Value, Failure>, file: StaticString, line: UInt,
    whenDropped ifDropped: @escaping @Sendable (PromiseDropped) -> Result<Value, Failure>
  ) {
    self.future = future
    self.ifDropped = ifDropped
    self.file = file
    self.line = line
  }

  /// Makes a promise of any failure type, `Never` among them.
  ///
  /// - Parameter ifDropped: The outcome if the promise is released unsettled.
  @inlinable
  public convenience init(
    ifDropped: Result<Value, Failure>, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.init(.pending(), file: file, line: line) { _ in ifDropped }
  }

  /// Makes a promise that asks for its outcome if it is released unsettled. A function that captures
  /// nothing costs nothing to keep, and there may be very many promises.
  @inlinable
  package convenience init(
    file: StaticString = #fileID, line: UInt = #line,
    askingIfDropped outcome: @escaping @Sendable (PromiseDropped) -> Result<Value, Failure>
  ) {
    self.init(.pending(), file: file, line: line, whenDropped: outcome)
  }

  /// Makes a promise whose failure type has a word for being dropped.
  @inlinable
  public convenience init(file: StaticString = #fileID, line: UInt = #line)
  where Failure: DropRepresentable {
    self.init(.pending(), file: file, line: line) { .failure(.promiseDropped($0)) }
  }

  /// Makes a promise that fails with ``PromiseDropped`` if it is dropped.
  @inlinable
  public convenience init(file: StaticString = #fileID, line: UInt = #line)
  where Failure == any Error {
    self.init(.pending(), file: file, line: line) { .failure($0) }
  }

  deinit {
    let cell: Cell = future.cell
    if !cell.isSettled { settleAsDropped() }
  }

  /// Apart from `deinit`, which would otherwise look up the outcome's type each time, settled or not.
  @inline(never)
  private func settleAsDropped() {
    let dropped = PromiseDropped(file: file.description, line: line)
    #if DEBUG
      dropped.report()
    #endif
    settle(ifDropped(dropped))
  }

  /// Gives the outcome. Only the first one counts.
  ///
  /// - Returns: Whether it was the first.
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

  /// Whether somebody has asked for the work to end; once true, it stays so.
  public var isCancelled: Bool { future.cell.isCancelled }

  /// Runs `handler` exactly once when the work is asked to end, or now if it already was.
  ///
  /// Not run if the promise is settled first. Any number of handlers; they run in the order of their
  /// registration on the thread that cancels. The promise still has to be settled. Do so through the
  /// argument: a handler that captures its own promise keeps it from ever being dropped.
  public func onCancel(_ handler: @escaping @Sendable (Promise) -> Void) {
    future.cell.onCancel { [weak self] in
      if let self { handler(self) }
    }
  }

  /// Runs `handler` as the other ``onCancel(_:)`` does, where it does not need the promise.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) { future.cell.onCancel(handler) }
}

extension Future where Failure == Never {
  /// A future whose value somebody surely gives: by ``give(_:)``, where a ``Promise`` would be an object beside it
  /// that notices its own end. Those who wait for one that is forgotten wait for ever.
  @inlinable
  package static func owed() -> Future { .pending() }

  /// The value of one that is ``owed()``. Only the first one counts.
  @inlinable
  package func give(_ value: Value) {
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
