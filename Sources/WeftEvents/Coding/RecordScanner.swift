import WeftDiagnostics
package import WeftJSON

/// The reason why a line with a correct checksum is not a valid record.
package enum RecordFormatError: Error, Sendable, Hashable {
  /// The syntax is wrong.
  case malformed
  /// The type of the record is unknown.
  case unknownType(String)
  /// A later version of Weft, which is named, wrote it.
  case newerFormat(Int, version: String)
  /// An earlier version wrote it, in whose format the address of an element with this key may be ambiguous.
  case ambiguousKey(String, version: String)
  /// A number or text is out of range.
  case unfit(String)
}

/// Reads a record's line member by member, in the order in which they were written, and parses only what is
/// requested.
///
/// The input is untrusted.
package struct RecordScanner {
  private let bytes: UnsafeRawBufferPointer
  private var at = 0
  /// The time of the record, once it has been read.
  package var moment = WallTime.blank

  /// - Parameter line: The line without its newline, with a verified checksum.
  package init(_ line: UnsafeRawBufferPointer) {
    bytes = line
  }

  private func byte(at place: Int) -> UInt8 { place < bytes.count ? bytes[place] : 0 }

  // MARK: Structure

  private mutating func begin(_ bracket: UnicodeScalar) throws(RecordFormatError) {
    guard byte(at: at) == UInt8(ascii: bracket) else { throw .malformed }
    at += 1
  }

  /// Whether the next member has this key; if so, its value is read next.
  private mutating func has(_ key: StaticString) -> Bool {
    let start = byte(at: at) == UInt8(ascii: ",") ? at + 1 : at
    let (count, text) = (key.utf8CodeUnitCount, key.utf8Start)
    guard start + count + 3 <= bytes.count, bytes[start] == UInt8(ascii: "\""),
      bytes[start + count + 1] == UInt8(ascii: "\""), bytes[start + count + 2] == UInt8(ascii: ":")
    else { return false }
    for index in 0..<count where bytes[start + 1 + index] != text[index] { return false }
    at = start + count + 3
    return true
  }

  /// Ends an object, skipping any further members.
  package mutating func endObject() throws(RecordFormatError) {
    while byte(at: at) != UInt8(ascii: "}") {
      if byte(at: at) == UInt8(ascii: ",") { at += 1 }
      try skipString()
      guard byte(at: at) == UInt8(ascii: ":") else { throw .malformed }
      at += 1
      try skipValue()
    }
    at += 1
  }

  /// Reads the elements of an array in order.
  private mutating func elements(
    _ body: (inout RecordScanner) throws(RecordFormatError) -> Void
  ) throws(RecordFormatError) {
    try begin("[")
    if byte(at: at) == UInt8(ascii: "]") {
      at += 1
      return
    }
    while true {
      try body(&self)
      switch byte(at: at) {
      case UInt8(ascii: ","): at += 1
      case UInt8(ascii: "]"):
        at += 1
        return
      default: throw .malformed
      }
    }
  }

  /// Reads all members of an object with arbitrary keys.
  private mutating func members(
    _ body: (inout RecordScanner, String) throws(RecordFormatError) -> Void
  ) throws(RecordFormatError) {
    try begin("{")
    if byte(at: at) == UInt8(ascii: "}") {
      at += 1
      return
    }
    while true {
      let key = try string()
      try begin(":")
      try body(&self, key)
      switch byte(at: at) {
      case UInt8(ascii: ","): at += 1
      case UInt8(ascii: "}"):
        at += 1
        return
      default: throw .malformed
      }
    }
  }

  // MARK: Values

  private mutating func take(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard at + count <= bytes.count else { return false }
    for index in 0..<count where bytes[at + index] != word.utf8Start[index] { return false }
    at += count
    return true
  }

  private mutating func string() throws(RecordFormatError) -> String {
    let start = at
    let isEscaped = try skipString()
    if isEscaped { return try escapedString(in: start..<at) }
    return String(decoding: bytes[(start + 1)..<(at - 1)], as: UTF8.self)
  }

  private func escapedString(in range: Range<Int>) throws(RecordFormatError) -> String {
    guard let text = try node(in: range).stringValue else { throw .malformed }
    return text
  }

  private func node(in range: Range<Int>) throws(RecordFormatError) -> JSONNode {
    let file = SourceFile(path: "", bytes: Array(bytes[range]))
    let (root, diagnostics) = JSONReader.read(file, limits: JSONLimits(problems: 1), beside: nil)
    guard let root, diagnostics.isEmpty else { throw .malformed }
    return root
  }

  // MARK: Skipping

  /// - Returns: Whether the string has escapes.
  @discardableResult
  private mutating func skipString() throws(RecordFormatError) -> Bool {
    guard byte(at: at) == UInt8(ascii: "\"") else { throw .malformed }
    var (place, isEscaped) = (at + 1, false)
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""):
        at = place + 1
        return isEscaped
      case UInt8(ascii: "\\"):
        isEscaped = true
        place += 2
      default: place += 1
      }
    }
    throw .malformed
  }

  /// Skips a value by its brackets and strings only; requested values are parsed separately.
  private mutating func skipValue() throws(RecordFormatError) {
    var depth = 0
    let start = at
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\""): try skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        at += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return try checkProgress(since: start) }
        depth -= 1
        at += 1
      case UInt8(ascii: ",") where depth == 0: return try checkProgress(since: start)
      default: at += 1
      }
      if depth == 0, at < bytes.count, bytes[at] == UInt8(ascii: ",") { return }
    }
    throw .malformed
  }

  private func checkProgress(since start: Int) throws(RecordFormatError) {
    if at == start { throw .malformed }
  }
}

extension RecordScanner: EventCoder {
  package static var isReading: Bool { true }
  package var isJournal: Bool { true }
  package var version: String { "" }

  package mutating func member(_ key: StaticString) throws(RecordFormatError) {
    guard has(key) else { throw .malformed }
  }

  package mutating func member(_ key: StaticString, isPresent: Bool) -> Bool { has(key) }

  package mutating func beginObject() throws(RecordFormatError) { try begin("{") }

  package mutating func code(_ value: inout Int) throws(RecordFormatError) {
    let isNegative = byte(at: at) == UInt8(ascii: "-")
    if isNegative { at += 1 }
    value = 0
    let start = at
    while case let digit = byte(at: at) &- UInt8(ascii: "0"), digit < 10 {
      let (scaled, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      let (sum, isLarger) = scaled.addingReportingOverflow(Int(digit))
      guard !isTooLarge, !isLarger else { throw .unfit("a number that is too large") }
      value = sum
      at += 1
    }
    guard at > start else { throw .malformed }
    if isNegative { value = -value }
  }

  package mutating func code(_ value: inout Bool) throws(RecordFormatError) {
    value = take("true")
    guard value || take("false") else { throw .malformed }
  }

  package mutating func code(_ value: inout String) throws(RecordFormatError) {
    value = try string()
  }

  package mutating func code(_ value: inout JSONValue) throws(RecordFormatError) {
    let start = at
    try skipValue()
    value = JSONValue(try node(in: start..<at))
  }

  package mutating func code(_ value: inout WallTime) throws(RecordFormatError) {
    let start = at
    try skipString()
    guard
      let moment = WallTime(wireText: UnsafeRawBufferPointer(rebasing: bytes[start + 1..<at - 1]))
    else { throw .unfit("a time") }
    value = moment
  }

  package mutating func code<Value: CodedValue>(
    _ values: inout [Value]
  ) throws(RecordFormatError) {
    values = []
    try elements { scanner throws(RecordFormatError) in
      var value = Value.blank
      try value.codeValue(&scanner)
      values.append(value)
    }
  }

  package mutating func code<Value: CodedValue>(
    _ members: inout [(key: String, value: Value)]
  ) throws(RecordFormatError) {
    members = []
    try self.members { scanner, key throws(RecordFormatError) in
      var value = Value.blank
      try value.codeValue(&scanner)
      members.append((key, value))
    }
  }

  package func failure(_ error: @autoclosure () -> RecordFormatError) -> RecordFormatError {
    error()
  }
}
