package import WeftDiagnostics

/// A value of a ``JSONDocument``, or a key: where it stands, and what it says.
///
/// Two words; copying one costs a reference count. An accessor of another kind than the node's
/// gives `nil` or nothing at all.
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

  /// The bytes of the value, with a string's quotes and a container's brackets.
  package var range: SourceRange { SourceRange(start: Int(entry.start), end: Int(entry.end)) }

  package var place: Diagnostic.Place { Diagnostic.Place(file: document.file, range: range) }

  /// The value as it is written, for messages.
  package var sourceText: String {
    String(decoding: document.bytes[Int(entry.start)..<Int(entry.end)], as: UTF8.self)
  }

  @inlinable package var isNull: Bool { kind == .null }

  package var boolValue: Bool? {
    guard kind == .bool else { return nil }
    return document.bytes[Int(entry.start)] == UInt8(ascii: "t")
  }

  /// The number exactly as it is written.
  package var numberValue: JSONNumber? {
    kind == .number ? JSONNumber(checked: sourceText) : nil
  }

  /// The elements of an array, in order; empty for every other kind.
  @inlinable package var elements: JSONElements { JSONElements(of: self) }

  /// The members of an object, in file order and with repeated keys; empty for every other kind.
  @inlinable package var members: JSONMembers { JSONMembers(of: self) }

  /// The value of a key. Of equal keys the last one counts.
  package func member(_ name: StaticString) -> JSONNode? {
    var found: JSONNode?
    for member in members where member.key.isString(name) { found = member.value }
    return found
  }

  /// The value of a key. Of equal keys the last one counts.
  package func member(named name: String) -> JSONNode? {
    var found: JSONNode?
    for member in members where member.key.isString(equalTo: name) { found = member.value }
    return found
  }
}

/// A key and what it stands for.
package struct JSONMember: Sendable {
  package let key: JSONNode

  @inlinable package init(key: JSONNode) { self.key = key }

  @inlinable package var value: JSONNode {
    JSONNode(document: key.document, index: key.index + 1)
  }
}

/// The elements of an array; counting them walks over them.
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

/// The members of an object; counting them walks over them.
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
