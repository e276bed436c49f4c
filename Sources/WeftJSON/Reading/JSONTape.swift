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
