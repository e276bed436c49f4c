import WeftDiagnostics
import WeftEncoding
import WeftJSON

/// Substring and element search.
enum Searching {
  static func contains(_ searched: ExpressionValue, _ item: ExpressionValue) -> Bool {
    if case .array(let array) = searched { return array.elements.contains { item.isEqual(to: $0) } }
    return compares(searched, item) { FoldedText.contains($0, $1) }
  }

  /// Always false for arrays and objects.
  static func compares(
    _ text: ExpressionValue, _ part: ExpressionValue, _ compare: (String, String) -> Bool
  ) -> Bool {
    guard let text = text.primitiveText, let part = part.primitiveText else { return false }
    return compare(text, part)
  }
}

/// Functions that take texts apart and put them together.
extension FunctionCall {
  func joined(within budget: inout AllocationBudget) throws(EvaluationError) -> String {
    guard case .array(let array) = arguments[0] else { return arguments[0].primitiveText ?? "" }
    let separator = arguments.count > 1 ? arguments[1].primitiveText ?? "," : ","
    var text = ""
    for (index, element) in array.elements.enumerated() {
      if index > 0 { try budget.append(separator, to: &text) }
      try budget.append(element.text, to: &text)
    }
    return text
  }

  /// The pieces of a text between separators, or its lines. An empty text has none.
  func pieces(within budget: inout AllocationBudget) throws(EvaluationError) -> ExpressionValue {
    let text = try text(0)
    guard !text.isEmpty else { return .array([]) }
    if function == .lines { return try budget.made(FunctionCall.lines(of: text)) }
    let separator = try self.text(1)
    let pieces =
      separator.isEmpty
      ? text.unicodeScalars.map { String($0) } : TextSearch(separator).pieces(of: text)
    return try budget.made(pieces.map { .string($0) })
  }

  /// The lines without their ends, LF or CRLF. The last end does not begin another line.
  private static func lines(of text: String) -> [ExpressionValue] {
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.map { line in
      .string(String(Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)))
    }
  }

  /// Returns the text unchanged if the text to replace is empty.
  func replaced(within budget: inout AllocationBudget) throws(EvaluationError) -> String {
    let (text, old, new) = (try text(0), try text(1), try text(2))
    guard !old.isEmpty else { return text }
    var replaced = ""
    for (index, piece) in TextSearch(old).pieces(of: text).enumerated() {
      if index > 0 { try budget.append(new, to: &replaced) }
      try budget.append(piece, to: &replaced)
    }
    return replaced
  }

  /// Reads both alphabets of RFC 4648, with or without padding, also in lines.
  func decodedBase64() throws(EvaluationError) -> String {
    var digits: [UInt8] = []
    for byte in try text(0).utf8 {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): continue
      case UInt8(ascii: "-"): digits.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): digits.append(UInt8(ascii: "/"))
      default: digits.append(byte)
      }
    }
    while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
    guard let bytes = Base64.bytes(of: String(decoding: digits, as: UTF8.self)) else {
      throw .malformedBase64
    }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .binaryBase64 }
    return text
  }
}

/// A path as text: `/` separates its names, and those at the end do not count. No file is looked at.
struct PathText {
  private let bytes: Substring.UTF8View

  init(_ text: String) {
    var bytes = text[...].utf8
    while bytes.count > 1, bytes.last == PathText.slash { bytes.removeLast() }
    self.bytes = bytes
  }

  private static let slash = UInt8(ascii: "/")

  /// The last name; `/` for the root.
  var base: String { String(Substring(name)) }

  private var name: Substring.UTF8View {
    guard bytes.count > 1, let slash = bytes.lastIndex(of: PathText.slash) else { return bytes }
    return bytes[bytes.index(after: slash)...]
  }

  /// All names but the last; `.` if there are none.
  var directory: String {
    guard let slash = bytes.lastIndex(of: PathText.slash) else { return "." }
    var start = bytes[..<slash]
    while start.last == PathText.slash { start.removeLast() }
    return start.isEmpty ? "/" : String(Substring(start))
  }

  /// The last point of the name, unless the name consists of points up to there.
  private var point: Substring.UTF8View.Index? {
    let name = name
    guard let point = name.lastIndex(of: UInt8(ascii: ".")),
      name[..<point].contains(where: { $0 != UInt8(ascii: ".") })
    else { return nil }
    return point
  }

  /// The last name without its extension.
  var stem: String { String(Substring(name[..<(point ?? name.endIndex)])) }

  /// The part of the name after its last point, without that point.
  var suffix: String { point.map { String(Substring(name[$0...].dropFirst())) } ?? "" }
}

/// Implements `format`: a text with values in braces.
enum FormatText {
  static func text(
    _ format: String, _ values: ArraySlice<ExpressionValue>, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> String {
    let bytes = Array(format.utf8)
    var text = ""
    var start = 0
    var index = 0
    while let brace = bytes[index...].firstIndex(where: isBrace) {
      let isDoubled = brace + 1 < bytes.count && bytes[brace + 1] == bytes[brace]
      try budget.append(
        String(decoding: bytes[start..<(isDoubled ? brace + 1 : brace)], as: UTF8.self), to: &text)
      if isDoubled {
        index = brace + 2
      } else {
        guard let place = place(in: bytes, at: brace) else { throw .malformedFormat(format) }
        guard let number = place.number, number < values.count else {
          throw .missingFormatValue(
            index: String(decoding: bytes[brace + 1..<place.end - 1], as: UTF8.self),
            given: values.count)
        }
        try budget.append(values[values.startIndex + number].text, to: &text)
        index = place.end
      }
      start = index
    }
    try budget.append(String(decoding: bytes[start...], as: UTF8.self), to: &text)
    return text
  }

  private static func isBrace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}")
  }

  /// Parses `{12}`: its number, `nil` if that overflows, and its end.
  private static func place(in bytes: [UInt8], at brace: Int) -> (number: Int?, end: Int)? {
    guard bytes[brace] == UInt8(ascii: "{") else { return nil }
    let digits = bytes[(brace + 1)...].prefix {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
    let end = digits.endIndex
    guard !digits.isEmpty, end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
    return (Int(String(decoding: digits, as: UTF8.self)), end + 1)
  }
}

/// Implements `fromJSON`: parses a value strictly by RFC 8259.
enum JSONText {
  static func value(
    of text: String, within budget: inout AllocationBudget
  ) throws(EvaluationError) -> ExpressionValue {
    let bytes = Array(text.utf8)
    guard !bytes.allSatisfy(Lexer.isSpace) else { throw .emptyJSON }
    try budget.take(bytes.count)
    let file = SourceFile(path: "", bytes: bytes)
    let (root, diagnostics) = JSONReader.read(
      file, limits: JSONLimits(bytes: budget.limit, problems: 1), beside: nil)
    if let fault = diagnostics.first(where: \.isError) {
      throw .malformedJSON(describe(fault, in: file))
    }
    guard let root else { throw .malformedJSON("it cannot be read") }
    try budget.take(root.document.nodeCount * MemoryLayout<ExpressionValue>.stride)
    return ExpressionValue(JSONValue(root))
  }

  private static func describe(_ fault: Diagnostic, in file: SourceFile) -> String {
    guard let place = fault.place else { return fault.message }
    let position = file.position(of: Int(place.range.start))
    return "\(fault.message) (line \(position.line), column \(position.column))"
  }
}
