/// A text that diagnostics point into: its bytes, and the name under which people know it.
///
/// Identity is the file as it was read, once; two reads of one path are two source files.
public final class SourceFile: Sendable {
  /// What messages call it: the path as the user gave it, or a description such as `<stdin>`.
  public let path: String
  /// The whole text, as read.
  public let bytes: [UInt8]

  public init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }
}

extension SourceFile: Hashable {
  public static func == (left: SourceFile, right: SourceFile) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A half-open range of byte offsets in a ``SourceFile``.
///
/// Offsets are 32 bits wide: a workflow file has at most 64 MiB, and there are many ranges.
public struct SourceRange: Sendable, Hashable {
  public var start: UInt32
  public var end: UInt32

  public init(start: Int, end: Int) {
    self.start = UInt32(start)
    self.end = UInt32(end)
  }
}
