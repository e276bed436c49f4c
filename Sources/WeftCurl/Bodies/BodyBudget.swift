import WeftHTTP

/// The number of body bytes that are still accepted. Exact: the first byte beyond the limit is rejected.
struct BodyBudget {
  let limit: Int?
  private(set) var taken = 0

  init(limit: Int?) { self.limit = limit }

  /// Returns how many of the next `count` bytes are accepted.
  mutating func take(_ count: Int) -> Int {
    let allowed = limit.map { min(count, $0 - taken) } ?? count
    taken += allowed
    return allowed
  }

  /// Whether the declared length of the body exceeds the limit.
  func isExceeded(byLengthOf head: HTTPResponseHead) -> Bool {
    guard let limit, let length = head.contentLength, length > limit else { return false }
    // For a compressed body, the declared length says nothing about the decoded one.
    return !head.headers.contains("content-encoding")
  }
}
