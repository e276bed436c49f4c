package import WeftDiagnostics

/// A JSON text that was read: the bytes as they stand, and one small record for each value in them.
///
/// Nothing is copied out of the text until somebody asks; a document with a million values is two
/// allocations. Nodes point into it and keep it alive.
package final class JSONDocument: Sendable {
  package let file: SourceFile
  /// The bytes of `file`, here so that a node is one step away from them.
  package let bytes: [UInt8]
  package let tape: JSONTape

  init(file: SourceFile, tape: consuming JSONTape) {
    self.file = file
    self.bytes = file.bytes
    self.tape = tape
  }

  package var root: JSONNode { JSONNode(document: self, index: 0) }
  /// Values and keys.
  package var nodeCount: Int { tape.count }
}
