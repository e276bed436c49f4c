/// Finds what RFC 8259 allows and a workflow must not contain: repeated keys, keys that differ only in normalisation,
/// and U+0000.
struct JSONFindings {
  private(set) var all: [JSONProblem] = []
  private let document: JSONDocument

  init(in document: JSONDocument) {
    self.document = document
    for index in 0..<document.tape.count {
      let entry = document.tape[index]
      switch entry.kind {
      case .object where Int(entry.next) > index + 3: compareKeys(ofObjectAt: index)
      case .string where entry.traits.contains(.containsNUL): findNUL(in: entry)
      default: break
      }
    }
  }

  private mutating func findNUL(in entry: JSONTapeEntry) {
    let escape = Array(#"\u0000"#.utf8)
    var at = Int(entry.start) + 1
    while at + escape.count < Int(entry.end) {
      if document.bytes[at..<at + escape.count].elementsEqual(escape) {
        all.append(JSONProblem(.nul, at..<at + escape.count))
      }
      at += document.bytes[at] == UInt8(ascii: "\\") ? 2 : 1
    }
  }

  // MARK: Keys

  private mutating func compareKeys(ofObjectAt object: Int) {
    let end = Int(document.tape[object].next)
    var isPlain = true
    var count = 0
    var key = object + 1
    while key < end {
      isPlain = isPlain && document.tape[key].traits.isEmpty
      count += 1
      key = Int(document.tape[key + 1].next)
    }
    if isPlain, count <= 16, !hasRepeatedKey(object + 1, end) { return }
    compareSpelledKeys(object + 1, end)
  }

  /// Compares all pairs, the fastest way for few keys.
  private func hasRepeatedKey(_ start: Int, _ end: Int) -> Bool {
    var key = start
    while key < end {
      var other = Int(document.tape[key + 1].next)
      while other < end {
        if haveEqualBytes(document.tape[key], document.tape[other]) { return true }
        other = Int(document.tape[other + 1].next)
      }
      key = Int(document.tape[key + 1].next)
    }
    return false
  }

  private func haveEqualBytes(_ left: JSONTapeEntry, _ right: JSONTapeEntry) -> Bool {
    guard left.end - left.start == right.end - right.start else { return false }
    return document.bytes.withUnsafeBufferPointer { bytes in
      var offset = 1
      while offset < Int(left.end - left.start) {
        guard bytes[Int(left.start) + offset] == bytes[Int(right.start) + offset] else {
          return false
        }
        offset += 1
      }
      return true
    }
  }

  /// Compares resolved keys: `String` compares and hashes by canonical equivalence, which is equality after
  /// normalisation to NFC.
  private mutating func compareSpelledKeys(_ start: Int, _ end: Int) {
    var first: [String: Int] = [:]
    var key = start
    while key < end {
      if let text = JSONNode(document: document, index: key).stringValue {
        if let earlier = first[text] {
          report(text, at: key, earlier: earlier)
        } else {
          first[text] = key
        }
      }
      key = Int(document.tape[key + 1].next)
    }
  }

  private mutating func report(_ text: String, at key: Int, earlier: Int) {
    let node = JSONNode(document: document, index: earlier)
    let firstText = node.stringValue ?? ""
    let isSame = firstText.utf8.elementsEqual(text.utf8)
    all.append(
      JSONProblem(
        isSame ? .repeatedKey(text) : .equivalentKey(text, first: firstText), range(of: key),
        other: range(of: earlier)))
  }

  private func range(of index: Int) -> Range<Int> {
    Int(document.tape[index].start)..<Int(document.tape[index].end)
  }
}
