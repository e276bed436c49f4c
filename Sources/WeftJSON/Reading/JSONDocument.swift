package import WeftDiagnostics

/// A parsed JSON text: its unchanged bytes and one small record for each value.
///
/// Nothing is copied out of the text until it is requested; a document with a million values takes two allocations.
/// Nodes point into it and keep it alive.
package final class JSONDocument: Sendable {
  package let file: SourceFile
  /// The bytes of `file`, stored here to save each node an indirection.
  package let bytes: [UInt8]
  package let tape: JSONTape

  init(file: SourceFile, tape: consuming JSONTape) {
    self.file = file
    self.bytes = file.bytes
    self.tape = tape
  }

  package var root: JSONNode { JSONNode(document: self, index: 0) }
  /// The number of values and keys.
  package var nodeCount: Int { tape.count }
}
