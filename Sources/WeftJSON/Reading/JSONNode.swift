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
package struct JSONElements: Sequence, Sendable {
  package let document: JSONDocument
  package let start: Int
  package let end: Int

  @inlinable
  package init(of node: JSONNode) {
    document = node.document
    start = node.index + 1
    end = node.kind == .array ? Int(node.entry.next) : start
  }

  @inlinable package var isEmpty: Bool { start == end }
  package var count: Int { reduce(0) { count, _ in count + 1 } }

  @inlinable package func makeIterator() -> Iterator { Iterator(self) }

  package struct Iterator: IteratorProtocol {
    package let document: JSONDocument
    package var index: Int
    package let end: Int

    @inlinable
    init(_ elements: JSONElements) {
      document = elements.document
      index = elements.start
      end = elements.end
    }

    @inlinable
    package mutating func next() -> JSONNode? {
      guard index < end else { return nil }
      let node = JSONNode(document: document, index: index)
      index = Int(node.entry.next)
      return node
    }
  }
}

/// The members of an object. `count` is O(n).
package struct JSONMembers: Sequence, Sendable {
  package let document: JSONDocument
  package let start: Int
  package let end: Int

  @inlinable
  package init(of node: JSONNode) {
    document = node.document
    start = node.index + 1
    end = node.kind == .object ? Int(node.entry.next) : start
  }

  @inlinable package var isEmpty: Bool { start == end }
  package var count: Int { reduce(0) { count, _ in count + 1 } }

  @inlinable package func makeIterator() -> Iterator { Iterator(self) }

  package struct Iterator: IteratorProtocol {
    package let document: JSONDocument
    package var index: Int
    package let end: Int

    @inlinable
    init(_ members: JSONMembers) {
      document = members.document
      index = members.start
      end = members.end
    }

    @inlinable
    package mutating func next() -> JSONMember? {
      guard index < end else { return nil }
      let member = JSONMember(key: JSONNode(document: document, index: index))
      index = Int(document.tape[index + 1].next)
      return member
    }
  }
}
