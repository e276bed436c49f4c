extension Future {
  /// A future whose `work` starts, once, when the first one derives from it, observes or awaits it.
  ///
  /// It then settles as the future that `work` returns. Looking at ``outcome`` starts nothing, and
  /// neither does ``cancel()``. If it is never started, `work` is released uncalled.
  ///
  /// `work` is called on the thread that looks first, before that call returns unless it is made from
  /// a callback (see ``Future``).
  public static func deferred(
    _ work: @escaping @Sendable () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    Future(Deferred(work))
  }
}

/// The first interest makes it ready without a source; it then follows what its work returns.
private final class Deferred<Value: Sendable, Failure: Error>:
  Cell<Value, Failure>, @unchecked Sendable
{
  private var work: (@Sendable () -> Future<Value, Failure>)?

  init(_ work: @escaping @Sendable () -> Future<Value, Failure>) {
    self.work = work
    super.init(.unstarted)
  }

  deinit {
    // Work that never started may hold another deferred future, that one the next, and so on.
    if let work { Ready.draining { $0.discard(work) } }
  }

  override func run(_ ready: Ready) {
    if let work = work.take() { return follow(work().cell, ready) }
    guard let source, let outcome = unsafeDowncast(source, to: Cell<Value, Failure>.self).outcome
    else { preconditionFailure("a deferred future was run before its work had settled") }
    settle(outcome, ready)
  }
}
