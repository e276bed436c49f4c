/// A node of a parsed pattern. At most ``PatternLimits/depth`` deep.
indirect enum PatternNode: Sendable, Hashable {
  case scalars(ScalarSet)
  case assertion(PatternAssertion)
  /// One after another; an empty sequence matches the empty text.
  case sequence([PatternNode])
  case alternatives([PatternNode])
  /// `most` is `nil` if there is no limit.
  case repetition(PatternNode, least: Int, most: Int?)
}

/// A condition between two scalars, or at an end.
enum PatternAssertion: Sendable, Hashable {
  case start, end, wordBoundary, noWordBoundary
}

/// Limits on the size of a pattern: the cost of matching is a product of its size and the text's.
enum PatternLimits {
  /// UTF-8 bytes.
  static let bytes = 4096
  /// Nesting of groups.
  static let depth = 50
  /// Instructions after repetitions have been expanded.
  static let instructions = 1000
}
