/// How many bytes of text and lists an evaluation may still make.
///
/// Doubling is easily written: without a bound `format('{0}{0}', …)` a few times over fills any
/// memory.
struct MadeBytes {
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

  /// Appends what there is room for.
  mutating func append(_ more: String, to text: inout String) throws(ExpressionProblem) {
    try take(more.utf8.count)
    text += more
  }
}
