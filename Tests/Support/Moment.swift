import WeftFutures

/// An event that happens once, and that a test or an action waits for.
public struct Moment: Sendable {
  private let promise = Promise<Void, Never>(ifDropped: .success(()))

  public init() {}

  public func comes() { promise.succeed(()) }
  public func hasCome() async { await promise.future.value }
}
