/// What a reader leaves: a record for each value and key, in file order; a container's record is
/// followed by those of what it contains.
///
/// The records lie in memory of their own, so that going from one to the next counts no references.
/// `@unchecked Sendable`, because there is one owner at a time, and nothing is written once the
/// parser has given the tape to its document.
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

  /// Trusts the index: it comes from the tape itself.
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

/// What a node is.
package enum JSONKind: UInt8, BitwiseCopyable, Sendable, Hashable {
  case null, bool, number, string, array, object
  /// A value that is not JSON, such as `NaN` or `007`. A diagnostic has told it already; whoever
  /// comes upon it says nothing more.
  case unreadable
}

/// One value or key: 16 bytes, none of which needs to be destroyed.
package struct JSONTapeEntry: BitwiseCopyable, Sendable {
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
package struct JSONStringTraits: OptionSet, BitwiseCopyable, Sendable {
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
