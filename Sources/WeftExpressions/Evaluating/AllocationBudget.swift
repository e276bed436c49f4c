/// The number of bytes of text and lists that an evaluation may still create.
///
/// Doubling is easily written: without a limit, a few nested `format('{0}{0}', …)` fill any memory.
struct AllocationBudget {
  let limit: Int
  private var left: Int

  init(limit: Int) {
    self.limit = limit
    left = limit
  }

  mutating func take(_ count: Int) throws(ExpressionProblem) {
    guard count <= left else { throw .tooLarge(limit: limit) }
    left -= count
  }

  /// Appends text, or throws if it exceeds the limit.
  mutating func append(_ more: String, to text: inout String) throws(ExpressionProblem) {
    try take(more.utf8.count)
    text += more
  }
}
