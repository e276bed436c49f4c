extension JSONNode {
  /// The content of a string or key, escapes resolved; `nil` for every other kind.
  package var stringValue: String? {
    guard kind == .string else { return nil }
    guard isEscaped else { return String(decoding: document.bytes[content], as: UTF8.self) }
    return String(decoding: JSONEscapes.resolved(document.bytes[content]), as: UTF8.self)
  }

  /// Whether this is a string with exactly these scalars. Makes no `String`.
  @inlinable
  package func isString(_ text: StaticString) -> Bool {
    guard kind == .string else { return false }
    guard !isEscaped else { return isEscapedString(text) }
    let content = content
    guard content.count == text.utf8CodeUnitCount else { return false }
    return document.bytes.withUnsafeBufferPointer { bytes in
      var offset = 0
      while offset < content.count {
        guard bytes[content.lowerBound + offset] == text.utf8Start[offset] else { return false }
        offset += 1
      }
      return true
    }
  }

  /// Whether this is a string with exactly these scalars.
  package func isString(_ text: String) -> Bool {
    guard kind == .string else { return false }
    if isEscaped { return stringValue?.utf8.elementsEqual(text.utf8) ?? false }
    return content.count == text.utf8.count && document.bytes[content].elementsEqual(text.utf8)
  }

  package func isEscapedString(_ text: StaticString) -> Bool { isString(text.description) }

  package var isEscaped: Bool {
    @inlinable get { entry.traits.contains(.escaped) }
  }

  /// The bytes between the quotes.
  package var content: Range<Int> {
    @inlinable get {
      let quote = entry.traits.contains(.unquoted) ? 0 : 1
      return Int(entry.start) + quote..<Int(entry.end) - quote
    }
  }

  /// The bytes of the file between the quotes, escapes as they are written.
  ///
  /// An offset into ``stringValue`` can be turned into a place with ``sourceOffset(ofUTF8:)``.
  package var contentRange: Range<Int> { content }

  /// Where in the file the byte of ``stringValue`` at `offset` is written, escapes considered.
  ///
  /// For the inside of an escape it is the escape's first byte; for the end, the closing quote.
  package func sourceOffset(ofUTF8 offset: Int) -> Int {
    guard isEscaped else { return Swift.min(content.lowerBound + offset, content.upperBound) }
    return JSONEscapes.sourceOffset(ofUTF8: offset, in: document.bytes[content])
  }
}
