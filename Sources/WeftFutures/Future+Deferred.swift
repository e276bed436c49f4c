extension Future {
  /// A future whose `work` starts, once, when the future is first derived from, observed or awaited.
  ///
  /// It then settles as the future that `work` returns. Reading ``outcome`` starts nothing, and neither does
  /// ``cancel()``. If the future is never started, `work` is released without a call.
  ///
  /// `work` is called on the thread of the first interest, before that call returns unless it is made from a callback
  /// (see ``Future``).
  @inlinable
  public static func deferred(
    _ work: @escaping @Sendable () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    // The first interest runs the cell although it has no source yet.
    Future(
      Identity(nil, .unstarted) { cell, ready in Future(known: cell).follow(work(), ready) })
  }
}
