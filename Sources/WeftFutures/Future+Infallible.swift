extension Future where Failure == Never {
  /// The value, once it is there; what is said of `result` about cancellation holds here.
  ///
  /// The general form throws `Failure`, which is nothing here; but Swift 6.3.1 crashes when it compiles a
  /// function that returns what such a property throws, so this one says it without.
  public var value: Value {
    get async {
      switch await result {
      case .success(let value): value
      }
    }
  }
}
