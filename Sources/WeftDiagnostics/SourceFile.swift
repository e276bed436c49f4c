internal import Synchronization

/// A text that diagnostics point into: its bytes, and the name that messages use for it.
///
/// Each read of a file has its own identity: two reads of one path are two source files.
public final class SourceFile: Sendable {
  /// The name in messages: the path as the user gave it, or a description such as `<stdin>`.
  public let path: String
  /// The whole text, as read.
  public let bytes: [UInt8]

  /// Built when a location is first needed: a file without diagnostics never pays for it.
  private let lines = Mutex<LineTable?>(nil)

  public init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  package var lineTable: LineTable {
    lines.withLock { known in
      if let known { return known }
      let table = LineTable(bytes)
      known = table
      return table
    }
  }

  /// The line and column of a byte offset. Offsets past the end count as the end.
  public func position(of offset: Int) -> SourcePosition {
    lineTable.position(of: offset, in: bytes)
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

/// A position for people: lines and columns from 1, one column for each Unicode scalar.
///
/// A tab is one column, and so is every byte that is not UTF-8. CR LF, LF and a lone CR end a line; a byte order mark
/// at the start of the file is not counted.
public struct SourcePosition: Sendable, Hashable {
  public var line: Int
  public var column: Int

  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}
