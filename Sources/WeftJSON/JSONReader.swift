package import WeftDiagnostics

/// Reads JSON texts strictly by RFC 8259, and keeps the location of every value. In a file whose name ends with `.jsonc`,
/// comments (`//` and `/* */`) and a comma before a closing bracket are allowed, as in the settings of editors.
///
/// In the order of the work: ``JSONReader`` checks size and encoding and calls the parser, which walks over the bytes
/// once and produces a tape of 16-byte entries. ``JSONNode`` is a position on that tape. ``JSONValue`` is a value
/// without a text, and ``JSONWriter`` writes texts.
///
/// Reading does not throw. It reports all problems at once: where the meaning is certain (a trailing comma, a comment,
/// a missing comma), it reports the problem and continues.
package enum JSONReader {
  /// Reads a text.
  ///
  /// - Parameters:
  ///   - beside: The severity of what RFC 8259 allows and a workflow must not contain: repeated keys, keys that differ
  ///     only in normalisation, and `\u0000`. `nil` for data: these are not reported, and the last of equal keys
  ///     counts.
  /// - Returns: The value, or `nil` if reading had to stop, and all diagnostics sorted by location. A value with errors
  ///   may contain nodes of kind ``JSONKind/unreadable``.
  package static func read(
    _ file: SourceFile, limits: JSONLimits = .workflow, beside: Diagnostic.Severity? = .error
  ) -> (root: JSONNode?, diagnostics: [Diagnostic]) {
    let outside = JSONEnvelope(file.bytes, limits: limits)
    if let fault = outside.fault {
      return (nil, [fault.diagnostic(in: file)])
    }
    let result = JSONParser.parse(
      file.bytes, from: outside.start, limits: limits, allowsComments: file.allowsComments)
    var diagnostics = (outside.notes + result.problems).map { $0.diagnostic(in: file) }
    var root: JSONNode?
    if result.isWhole {
      let document = JSONDocument(file: file, tape: result.tape)
      root = document.root
      if let beside {
        diagnostics += JSONFindings(in: document).all.map { $0.diagnostic(beside, in: file) }
      }
    }
    return (root, diagnostics.sortedByLocation())
  }
}

/// Limits on the texts that are read.
package struct JSONLimits: Sendable, Hashable {
  /// At most 4 GiB, because offsets are 32 bits wide.
  package var bytes: Int
  /// The maximum nesting of arrays and objects.
  package var depth: Int
  /// The number of problems after which reading stops.
  package var problems: Int

  package init(bytes: Int = 64 << 20, depth: Int = 256, problems: Int = 100_000) {
    self.bytes = bytes
    self.depth = depth
    self.problems = problems
  }

  /// 64 MiB, 256 deep.
  package static let workflow = JSONLimits()
}

/// Checks a text before its first token: size, encoding and byte order mark.
struct JSONEnvelope {
  /// The reason to reject the text without parsing it.
  private(set) var fault: JSONProblem?
  private(set) var notes: [JSONProblem] = []
  /// The offset of the JSON text.
  private(set) var start = 0

  init(_ bytes: [UInt8], limits: JSONLimits) {
    let limit = min(limits.bytes, Int(UInt32.max) - 1)
    if bytes.count > limit {
      fault = JSONProblem(.tooLarge(bytes.count, limit: limit), 0..<0)
    } else if let encoding = JSONEnvelope.foreignEncoding(of: bytes) {
      fault = JSONProblem(.foreignEncoding(encoding), 0..<min(bytes.count, 2))
    } else if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      notes = [JSONProblem(.byteOrderMark, 0..<3)]
      start = 3
    }
  }

  /// Detects the encoding by byte order mark, or by the position of the zeros of the first two ASCII characters (RFC
  /// 4627 §3).
  private static func foreignEncoding(of bytes: [UInt8]) -> String? {
    guard bytes.count >= 2 else { return nil }
    let head = (0..<4).map { $0 < bytes.count ? bytes[$0] : 0xAA }
    switch (head[0], head[1], head[2], head[3]) {
    case (0xFF, 0xFE, 0, 0), (0, 0, 0xFE, 0xFF): return "UTF-32"
    case (0xFF, 0xFE, _, _), (0xFE, 0xFF, _, _): return "UTF-16"
    case (0, 0, 0, 1...), (1..., 0, 0, 0): return "UTF-32"
    case (0, 1..., _, _), (1..., 0, _, _): return "UTF-16"
    default: return nil
    }
  }
}

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
