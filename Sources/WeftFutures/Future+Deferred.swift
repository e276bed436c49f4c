extension Future {
  /// A future whose `work` starts, once, when the first one derives from it, observes or awaits it.
  ///
  /// It then settles as the future that `work` returns. Looking at ``outcome`` starts nothing, and
  /// neither does ``cancel()``. If it is never started, `work` is released uncalled.
  ///
  /// `work` is called on the thread that looks first, before that call returns unless it is made from
  /// a callback (see ``Future``).
  @inlinable
  public static func deferred(
    _ work: @escaping @Sendable () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    // The first interest runs the cell although it has no source yet.
    Future(
      Identity(nil, .unstarted) { cell, ready in Future(known: cell).follow(work(), ready) })
  }
}
