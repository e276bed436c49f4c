package import WeftDiagnostics

extension SourceFile {
  /// The range in the file of a part of a string.
  ///
  /// - Parameters:
  ///   - part: UTF-8 offsets in the content of the string, its escapes resolved.
  ///   - string: The range of the string in the file, including its quotes.
  package func range(of part: SourceRange, inStringAt string: SourceRange) -> SourceRange {
    let content = Int(string.start) + 1..<max(Int(string.end) - 1, Int(string.start) + 1)
    return bytes.withUnsafeBufferPointer { bytes in
      let written = UnsafeBufferPointer(rebasing: bytes[content])
      let isEscaped = written.contains(UInt8(ascii: "\\"))
      let place = { (offset: UInt32) in
        content.lowerBound
          + (isEscaped
            ? JSONEscapes.sourceOffset(ofUTF8: Int(offset), in: written)
            : min(Int(offset), written.count))
      }
      return SourceRange(start: place(part.start), end: place(part.end))
    }
  }
}
