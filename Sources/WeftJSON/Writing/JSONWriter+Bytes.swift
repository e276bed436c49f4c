/// The buffer: room is made once for each piece, then the bytes are written without further checks.
extension JSONWriter {
  /// Appends the bytes that `write` stores at the address it gets; it returns their count.
  @inline(__always)
  mutating func put(atMost room: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
    if count + room > storage.count { grow(room) }
    let start = count
    count += storage.withUnsafeMutableBufferPointer { target in
      target.baseAddress.map { write($0 + start) } ?? 0
    }
  }

  /// Appends a key or the beginning of a value, with the comma that belongs before it.
  @inline(__always)
  mutating func putNext(atMost room: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
    if style == .pretty { breakLine() }
    let comma = needsComma ? 1 : 0
    put(atMost: room + 1) { target in
      target[0] = UInt8(ascii: ",")
      return comma + write(target + comma)
    }
    needsComma = true
    isAfterKey = false
  }

  @inline(__always)
  mutating func put(_ byte: UInt8) {
    put(atMost: 1) { target in
      target[0] = byte
      return 1
    }
  }

  @inline(never)
  private mutating func grow(_ wanted: Int) {
    let size = max(storage.count * 2, count + wanted)
    storage.append(contentsOf: repeatElement(0, count: size - storage.count))
  }

  /// Begins the line of a key, element or bracket in pretty text.
  private mutating func breakLine() {
    guard depth > 0, !isAfterKey else { return }
    if needsComma { put(UInt8(ascii: ",")) }
    needsComma = false
    indent()
  }

  mutating func indent() {
    put(UInt8(ascii: "\n"))
    for _ in 0..<depth * 2 { put(UInt8(ascii: " ")) }
  }
}

/// Passes the contiguous bytes of a text to `body`; those of a short one are copied to the stack.
@inline(__always)
func lendBytes(of text: String, to body: (UnsafeBufferPointer<UInt8>) -> Void) {
  if text.utf8.withContiguousStorageIfAvailable(body) == nil {
    var copy = text
    copy.withUTF8(body)
  }
}
