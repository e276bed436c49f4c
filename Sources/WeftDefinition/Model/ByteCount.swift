/// An amount of data.
public struct ByteCount: Sendable, Hashable, Comparable {
  /// Never negative.
  public let bytes: Int

  /// - Precondition: `bytes` is not negative.
  public init(_ bytes: Int) {
    precondition(bytes >= 0, "\(bytes) is not an amount of data")
    self.bytes = bytes
  }

  public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount: CustomStringConvertible {
  /// The spelling in a workflow.
  public var description: String { SizeText.text(of: self) }
}
