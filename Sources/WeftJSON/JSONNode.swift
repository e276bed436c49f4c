package import WeftDiagnostics

/// A value or key of a ``JSONDocument``, with its location.
///
/// Two words; copying one costs a reference count. Accessors for other kinds return `nil` or an empty sequence.
package struct JSONNode: Sendable {
  package let document: JSONDocument
  package let index: Int

  @inlinable
  package init(document: JSONDocument, index: Int) {
    self.document = document
    self.index = index
  }

  package var entry: JSONTapeEntry {
    @inlinable get { document.tape[index] }
  }

  @inlinable package var kind: JSONKind { entry.kind }

  /// The bytes of the value, including a string's quotes and a container's brackets.
  package var range: SourceRange { SourceRange(start: Int(entry.start), end: Int(entry.end)) }

  package var place: Diagnostic.Place { Diagnostic.Place(file: document.file, range: range) }

  /// The value as written, for messages.
  package var sourceText: String {
    String(decoding: document.bytes[Int(entry.start)..<Int(entry.end)], as: UTF8.self)
  }

  @inlinable package var isNull: Bool { kind == .null }

  package var boolValue: Bool? {
    guard kind == .bool else { return nil }
    return document.bytes[Int(entry.start)] == UInt8(ascii: "t")
  }

  /// The number exactly as written.
  package var numberValue: JSONNumber? {
    kind == .number ? JSONNumber(checked: sourceText) : nil
  }

  /// The elements of an array, in order; empty for other kinds.
  @inlinable package var elements: JSONElements { JSONElements(of: self) }

  /// The members of an object, in file order and including repeated keys; empty for other kinds.
  @inlinable package var members: JSONMembers { JSONMembers(of: self) }

  /// The value of a key. If the key is repeated, the last value counts.
  package func member(_ name: StaticString) -> JSONNode? {
    var found: JSONNode?
    for member in members where member.key.isString(name) { found = member.value }
    return found
  }

  /// The value of a key. If the key is repeated, the last value counts.
  package func member(named name: String) -> JSONNode? {
    var found: JSONNode?
    for member in members where member.key.isString(equalTo: name) { found = member.value }
    return found
  }
}

/// A key and its value.
package struct JSONMember: Sendable {
  package let key: JSONNode

  @inlinable package init(key: JSONNode) { self.key = key }

  @inlinable package var value: JSONNode {
    JSONNode(document: key.document, index: key.index + 1)
  }
}

/// The elements of an array. `count` is O(n).
package struct JSONElements: Sequence, IteratorProtocol, Sendable {
  package let document: JSONDocument
  package var index: Int
  package let end: Int

  @inlinable
  package init(of node: JSONNode) {
    document = node.document
    index = node.index + 1
    end = node.kind == .array ? Int(node.entry.next) : index
  }

  @inlinable package var isEmpty: Bool { index == end }
  package var count: Int { reduce(0) { count, _ in count + 1 } }

  @inlinable
  package mutating func next() -> JSONNode? {
    guard index < end else { return nil }
    let node = JSONNode(document: document, index: index)
    index = Int(node.entry.next)
    return node
  }
}

/// The members of an object. `count` is O(n).
package struct JSONMembers: Sequence, IteratorProtocol, Sendable {
  package let document: JSONDocument
  package var index: Int
  package let end: Int

  @inlinable
  package init(of node: JSONNode) {
    document = node.document
    index = node.index + 1
    end = node.kind == .object ? Int(node.entry.next) : index
  }

  @inlinable package var isEmpty: Bool { index == end }
  package var count: Int { reduce(0) { count, _ in count + 1 } }

  @inlinable
  package mutating func next() -> JSONMember? {
    guard index < end else { return nil }
    let member = JSONMember(key: JSONNode(document: document, index: index))
    index = Int(document.tape[index + 1].next)
    return member
  }
}

extension JSONNode {
  /// The content of a string or key with its escapes resolved; `nil` for other kinds.
  package var stringValue: String? {
    let entry = entry
    guard entry.kind == .string else { return nil }
    return withContent { content in
      entry.traits.contains(.escaped)
        ? JSONEscapes.resolved(content) : String(decoding: content, as: UTF8.self)
    }
  }

  /// Whether this is a string of exactly these scalars. Allocates no `String`.
  @inlinable
  package func isString(_ text: StaticString) -> Bool {
    let entry = entry
    guard entry.kind == .string else { return false }
    guard !entry.traits.contains(.escaped) else { return isEscapedString(text) }
    return withContent { content in
      guard content.count == text.utf8CodeUnitCount else { return false }
      for offset in content.indices where content[offset] != text.utf8Start[offset] {
        return false
      }
      return true
    }
  }

  /// Whether this is a string of exactly these scalars.
  package func isString(equalTo text: String) -> Bool {
    guard kind == .string else { return false }
    if isEscaped { return stringValue?.utf8.elementsEqual(text.utf8) ?? false }
    return contentRange.count == text.utf8.count && withContent { $0.elementsEqual(text.utf8) }
  }

  package func isEscapedString(_ text: StaticString) -> Bool { isString(equalTo: text.description) }

  package var isEscaped: Bool {
    @inlinable get { entry.traits.contains(.escaped) }
  }

  /// The bytes between the quotes, as written in the file.
  package var contentRange: Range<Int> {
    @inlinable get {
      let entry = entry
      let quote = entry.traits.contains(.unquoted) ? 0 : 1
      return Int(entry.start) + quote..<Int(entry.end) - quote
    }
  }

  /// Passes the bytes of a string or key to `body`, without quotes and with escapes as written.
  @inlinable
  package func withContent<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    document.bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[contentRange])) }
  }

  /// The offset in the file of the byte of ``stringValue`` at `offset`, taking escapes into account.
  ///
  /// Inside an escape, it is the escape's first byte; at the end, the closing quote.
  package func sourceOffset(ofUTF8 offset: Int) -> Int {
    guard isEscaped else { return min(contentRange.lowerBound + offset, contentRange.upperBound) }
    return contentRange.lowerBound
      + withContent { JSONEscapes.sourceOffset(ofUTF8: offset, in: $0) }
  }
}

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

/// The output of the parser: a record for each value and key, in file order; a container's record is followed by those
/// of its contents.
///
/// The records are in manually allocated memory, so that stepping through them counts no references. `@unchecked
/// Sendable`, because there is one owner at a time, and nothing is written once the document owns the tape.
package struct JSONTape: ~Copyable, @unchecked Sendable {
  @usableFromInline var entries: UnsafeMutablePointer<JSONTapeEntry>
  @usableFromInline var filled = 0
  private var capacity: Int

  init(capacity: Int) {
    self.capacity = max(capacity, 2)
    entries = .allocate(capacity: self.capacity)
  }

  deinit { entries.deallocate() }

  @inlinable package var count: Int { filled }

  /// Does not check the index: it comes from the tape itself.
  @inlinable package subscript(index: Int) -> JSONTapeEntry {
    get {
      assert(index >= 0 && index < filled)
      return entries[index]
    }
    set {
      assert(index >= 0 && index < filled)
      entries[index] = newValue
    }
  }

  @inline(__always)
  mutating func append(_ entry: JSONTapeEntry) {
    if filled == capacity { grow() }
    (entries + filled).initialize(to: entry)
    filled += 1
  }

  @inline(never)
  private mutating func grow() {
    let wider = UnsafeMutablePointer<JSONTapeEntry>.allocate(capacity: capacity * 2)
    wider.moveInitialize(from: entries, count: filled)
    entries.deallocate()
    entries = wider
    capacity *= 2
  }
}

/// The kind of a node.
package enum JSONKind: UInt8, BitwiseCopyable, Sendable, Hashable {
  case null, bool, number, string, array, object
  /// A value that is not JSON, such as `NaN` or `007`. It is already reported; consumers report nothing more.
  case unreadable
}

/// One value or key: 16 bytes that need no destruction.
package struct JSONTapeEntry: BitwiseCopyable, Sendable {
  /// The first byte of the value; for a string, its quote.
  package var start: UInt32
  /// The offset after the last byte.
  package var end: UInt32
  /// The index after the last entry inside, which is that of the next sibling.
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

/// Properties of a string that the parser noticed, so that they need no second look.
package struct JSONStringTraits: OptionSet, BitwiseCopyable, Sendable {
  package let rawValue: UInt8
  @inlinable package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Has a backslash: the bytes are not the content.
  @inlinable package static var escaped: Self { Self(rawValue: 1) }
  @inlinable package static var beyondASCII: Self { Self(rawValue: 2) }
  /// Contains an escaped U+0000.
  @inlinable package static var containsNUL: Self { Self(rawValue: 4) }
  /// A key without quotes, which is already reported; its range has no quotes to strip.
  @inlinable package static var unquoted: Self { Self(rawValue: 8) }
  /// Is not valid UTF-8, which is already reported.
  @inlinable package static var damaged: Self { Self(rawValue: 16) }
}
