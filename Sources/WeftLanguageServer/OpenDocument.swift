import WeftDefinition
import WeftDiagnostics
import WeftJSON

/// The unit in which a client counts the characters of a line.
enum PositionEncoding: String {
  case utf8 = "utf-8"
  case utf16 = "utf-16"

  /// The units of the scalar that begins with this byte; 0 for a continuation byte.
  func units(of byte: UInt8) -> Int {
    switch self {
    case .utf8: 1
    case .utf16: byte & 0xC0 == 0x80 ? 0 : byte >= 0xF0 ? 2 : 1
    }
  }
}

/// A document that the client has open, with the text as it is in the editor.
package struct OpenDocument {
  let uri: String
  /// `nil` for a document that is no file.
  let path: String?
  private(set) var version: JSONValue
  private(set) var source: SourceFile
  private let encoding: PositionEncoding

  /// - Parameter item: A `TextDocumentItem`.
  init?(_ item: JSONValue?, _ encoding: PositionEncoding) {
    guard let uri = item?["uri"]?.text, let text = item?["text"]?.text else { return nil }
    self.uri = uri
    self.encoding = encoding
    path = FileURI.path(of: uri)
    version = item?["version"] ?? .null
    source = SourceFile(path: path ?? uri, bytes: Array(text.utf8))
  }

  /// Whether its name is that of a file of `weft test`.
  var isTestFile: Bool { WorkflowFileName.isTest(path ?? uri) }

  /// Applies changes in order: ranges of the text as the changes before them left it, or whole texts.
  mutating func apply(_ changes: [JSONValue], version: JSONValue) {
    self.version = version
    for change in changes {
      guard let text = change["text"]?.text else { continue }
      var bytes = source.bytes
      if let range = range(change["range"]) {
        bytes.replaceSubrange(range, with: text.utf8)
      } else {
        bytes = Array(text.utf8)
      }
      source = SourceFile(path: source.path, bytes: bytes)
    }
  }

  // MARK: Positions

  /// The offset of a `Position`. One beyond the end of its line counts as the end, one beyond the text as its end.
  func offset(_ position: JSONValue?) -> Int? {
    guard let line = position?["line"]?.whole, let character = position?["character"]?.whole,
      line >= 0, character >= 0
    else { return nil }
    guard line < source.lineTable.lineCount else { return source.bytes.count }
    let content = source.lineTable.content(ofLine: line + 1, in: source.bytes)
    var (offset, units) = (content.lowerBound, 0)
    while offset < content.upperBound {
      units += encoding.units(of: source.bytes[offset])
      if units > character { break }
      offset += 1
    }
    // Never between the bytes of a scalar.
    while offset > content.lowerBound, offset < content.upperBound,
      source.bytes[offset] & 0xC0 == 0x80
    {
      offset -= 1
    }
    return offset
  }

  func range(_ range: JSONValue?) -> Range<Int>? {
    guard let start = offset(range?["start"]), let end = offset(range?["end"]) else { return nil }
    return start..<max(start, end)
  }

  func range(_ range: Range<Int>) -> JSONValue {
    ["start": position(range.lowerBound), "end": position(range.upperBound)]
  }

  func range(_ range: SourceRange) -> JSONValue { self.range(Int(range.start)..<Int(range.end)) }

  var wholeRange: JSONValue { range(0..<source.bytes.count) }

  private func position(_ offset: Int) -> JSONValue { source.position(at: offset, encoding) }
}

extension SourceFile {
  /// The `Position` of an offset.
  func position(at offset: Int, _ encoding: PositionEncoding) -> JSONValue {
    let offset = min(max(offset, 0), bytes.count)
    let line = position(of: offset).line
    let start = lineTable.content(ofLine: line, in: bytes).lowerBound
    let units = bytes[min(start, offset)..<offset].reduce(0) { $0 + encoding.units(of: $1) }
    return ["line": .int(line - 1), "character": .int(units)]
  }

  func range(_ range: SourceRange, _ encoding: PositionEncoding) -> JSONValue {
    [
      "start": position(at: Int(range.start), encoding),
      "end": position(at: Int(range.end), encoding),
    ]
  }
}

/// URIs of files (RFC 8089).
enum FileURI {
  /// The path of a `file` URI on this machine; `nil` for any other.
  static func path(of uri: String) -> String? {
    let scheme = "file://"
    guard uri.lowercased().hasPrefix(scheme) else { return nil }
    let rest = uri.utf8.dropFirst(scheme.utf8.count)
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    let host = String(rest[..<slash]) ?? ""
    guard host.isEmpty || host.lowercased() == "localhost" else { return nil }
    var bytes: [UInt8] = []
    var path = rest[slash...]
    while let byte = path.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard path.count >= 2, let digits = String(path.prefix(2)),
        let value = UInt8(digits, radix: 16)
      else { return nil }
      bytes.append(value)
      path = path.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  static func uri(of path: String) -> String {
    let digits = Array("0123456789ABCDEF".unicodeScalars)
    var uri = "file://"
    for byte in path.utf8 {
      let scalar = Unicode.Scalar(byte)
      let isPlain =
        scalar.isASCII
        && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
          || "-._~/".unicodeScalars.contains(scalar))
      if isPlain {
        uri.unicodeScalars.append(scalar)
      } else {
        uri.unicodeScalars.append("%")
        uri.unicodeScalars.append(digits[Int(byte >> 4)])
        uri.unicodeScalars.append(digits[Int(byte & 15)])
      }
    }
    return uri
  }
}

extension JSONValue {
  var text: String? { if case .string(let text) = self { text } else { nil } }
  var list: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  var flag: Bool? { if case .bool(let flag) = self { flag } else { nil } }
  var whole: Int? { if case .number(let number) = self { Int(number.text) } else { nil } }
}
