/// How much of a body is still taken. Exact: the byte beyond the limit is not.
struct BodyBudget {
  let limit: Int?
  private(set) var taken = 0

  init(limit: Int?) { self.limit = limit }

  /// How many of the next `count` bytes are taken.
  mutating func take(_ count: Int) -> Int {
    let allowed = limit.map { min(count, $0 - taken) } ?? count
    taken += allowed
    return allowed
  }

  /// Whether a body that says how long it is will not fit.
  func isExceeded(byLengthOf head: HTTPResponseHead) -> Bool {
    guard let limit, let length = head.contentLength, length > limit else { return false }
    // A packed one may be longer or shorter than it says.
    return !head.headers.contains("content-encoding")
  }
}
