/// What a pattern says, as it nests. At most ``PatternLimits/depth`` deep.
indirect enum PatternNode: Sendable, Hashable {
  case scalars(ScalarSet)
  case assertion(PatternAssertion)
  /// One after another; none matches the empty text.
  case sequence([PatternNode])
  case alternatives([PatternNode])
  /// `most` is `nil` where there is no limit.
  case repetition(PatternNode, least: Int, most: Int?)
}

/// What holds between two scalars, or at an end.
enum PatternAssertion: Sendable, Hashable {
  case start, end, wordBoundary, noWordBoundary
}

/// How large a pattern may be: what it costs to match is a product of its size and the text's.
enum PatternLimits {
  /// UTF-8 bytes.
  static let bytes = 4096
  /// Groups inside each other.
  static let depth = 50
  /// Instructions after repetitions have been written out.
  static let instructions = 1000
}
