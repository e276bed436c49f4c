/// Where something lies beneath a directory: the names from there on, no link and no `..` among them.
///
/// A name is bytes, as the system compares them: two spellings of "é" are two names.
package struct ConfinedPath: Hashable, Sendable {
  package var names: [[UInt8]]

  package init(_ names: [[UInt8]] = []) {
    self.names = names
  }

  /// What it lies in; the directory itself for the directory itself.
  package var parent: ConfinedPath { ConfinedPath(names.dropLast()) }

  package func appending(_ name: [UInt8]) -> ConfinedPath { ConfinedPath(names + [name]) }

  /// As the system takes it; `.` is the directory itself.
  var bytes: [UInt8] {
    names.isEmpty ? [UInt8(ascii: ".")] : Array(names.joined(separator: [UInt8(ascii: "/")]))
  }

  /// U+FFFD stands for what is not UTF-8.
  package var text: String { String(decoding: bytes, as: UTF8.self) }
}
