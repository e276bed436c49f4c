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
