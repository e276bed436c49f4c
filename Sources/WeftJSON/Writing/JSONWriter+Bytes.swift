/// The buffer: room is made once for each piece, then the bytes go in without further questions.
extension JSONWriter {
  @inline(__always)
  mutating func put(_ byte: UInt8) {
    makeRoom(1)
    storage[count] = byte
    count += 1
  }

  mutating func put(_ text: String) {
    var text = text
    text.withUTF8 { put($0) }
  }

  mutating func put(_ piece: UnsafeBufferPointer<UInt8>) {
    makeRoom(piece.count)
    let count = count
    storage.withUnsafeMutableBytes { target in
      UnsafeMutableRawBufferPointer(rebasing: target[count...])
        .copyMemory(from: UnsafeRawBufferPointer(piece))
    }
    self.count += piece.count
  }

  mutating func putPlainKey(_ key: UnsafeBufferPointer<UInt8>) {
    put(UInt8(ascii: "\""))
    put(key)
    put(UInt8(ascii: "\""))
    put(UInt8(ascii: ":"))
    if style == .pretty { put(UInt8(ascii: " ")) }
  }

  mutating func putDigits(_ value: Int) {
    put(String(value))
  }

  @inline(__always)
  mutating func makeRoom(_ wanted: Int) {
    if count + wanted > storage.count { grow(wanted) }
  }

  @inline(never)
  private mutating func grow(_ wanted: Int) {
    let size = max(storage.count * 2, count + wanted)
    storage.append(contentsOf: repeatElement(0, count: size - storage.count))
  }
}
