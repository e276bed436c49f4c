package import WeftDiagnostics

/// A JSON text that was read: the bytes as they stand, and one small record for each value in them.
///
/// Nothing is copied out of the text until somebody asks; a document with a million values is two
/// allocations. Nodes point into it and keep it alive.
package final class JSONDocument: Sendable {
  package let file: SourceFile
  /// The bytes of `file`, here so that a node is one step away from them.
  package let bytes: [UInt8]
  /// Every value and every key, in file order; a container is followed by what it contains.
  package let tape: [JSONTapeEntry]

  init(file: SourceFile, tape: [JSONTapeEntry]) {
    self.file = file
    self.bytes = file.bytes
    self.tape = tape
  }

  package var root: JSONNode { JSONNode(document: self, index: 0) }
  /// Values and keys.
  package var nodeCount: Int { tape.count }
}

/// What a node is.
package enum JSONKind: UInt8, Sendable, Hashable {
  case null, bool, number, string, array, object
  /// A value that is not JSON, such as `NaN` or `007`. A diagnostic has told it already; whoever
  /// comes upon it says nothing more.
  case unreadable
}

/// One value or key: 16 bytes.
package struct JSONTapeEntry: Sendable {
  /// The first byte of the value; of a string, its quote.
  package var start: UInt32
  /// The byte after its last one.
  package var end: UInt32
  /// The index after the last entry inside: that of the next sibling.
  package var next: UInt32
  package var kind: JSONKind
  package var traits: JSONStringTraits

  @inlinable
  package init(_ kind: JSONKind, _ traits: JSONStringTraits = [], start: Int, end: Int, next: Int) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.end = UInt32(truncatingIfNeeded: end)
    self.next = UInt32(truncatingIfNeeded: next)
    self.kind = kind
    self.traits = traits
  }
}

/// What the reader saw in a string, so that nobody has to look again.
package struct JSONStringTraits: OptionSet, Sendable {
  package let rawValue: UInt8
  @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Has a backslash: the bytes are not yet the content.
  @inlinable package static var escaped: Self { Self(rawValue: 1) }
  @inlinable package static var beyondASCII: Self { Self(rawValue: 2) }
  /// Spells out U+0000.
  @inlinable package static var containsNUL: Self { Self(rawValue: 4) }
  /// A key without quotes, which has been told; the range has no quotes to take off.
  @inlinable package static var unquoted: Self { Self(rawValue: 8) }
  /// Is not UTF-8, which has been told.
  @inlinable package static var damaged: Self { Self(rawValue: 16) }
}
