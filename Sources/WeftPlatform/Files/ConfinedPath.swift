/// A path beneath a directory: the names from there on, without links and without `..`.
///
/// A name is bytes, as the system compares them: two spellings of "é" are two names.
package struct ConfinedPath: Hashable, Sendable {
  package var names: [[UInt8]]

  package init(_ names: [[UInt8]] = []) {
    self.names = names
  }

  /// The enclosing directory; for the directory itself, the same path.
  package var parent: ConfinedPath { ConfinedPath(names.dropLast()) }

  package func appending(_ name: [UInt8]) -> ConfinedPath { ConfinedPath(names + [name]) }

  /// The path as the system takes it; `.` is the directory itself.
  var bytes: [UInt8] {
    names.isEmpty ? [UInt8(ascii: ".")] : Array(names.joined(separator: [UInt8(ascii: "/")]))
  }

  /// The path as text, with U+FFFD in place of invalid UTF-8.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
}
