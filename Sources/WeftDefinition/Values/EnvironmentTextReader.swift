import WeftDiagnostics

/// Reads the lines of an env file, whose bytes are UTF-8 without NUL. After a problem it continues with the next line.
struct EnvironmentTextReader {
  private(set) var assignments: [EnvironmentText.Assignment] = []
  private(set) var problems: [EnvironmentText.Problem] = []
  private let bytes: [UInt8]
  private var index: Int

  private typealias Problem = EnvironmentText.Problem
  private typealias Part = EnvironmentText.Part

  /// The maximum depth of references within references.
  private static let depth = 16

  init(_ file: SourceFile) {
    bytes = file.bytes
    index = file.markLength
  }

  mutating func read() {
    while index < bytes.count {
      skipBlanks()
      do throws(Problem) {
        if !isAtLineEnd, bytes[index] != Byte.hash { assignments.append(try assignment()) }
      } catch {
        problems.append(error)
        guard problems.count < WorkflowLimits.problems else { return }
      }
      skipLine()
    }
  }

  // MARK: Lines

  private mutating func assignment() throws(Problem) -> EnvironmentText.Assignment {
    skipExport()
    let start = index
    let name = try name()
    let range = SourceRange(start: start, end: index)
    let hasBlank = skipBlanks()
    if isAtLineEnd || hasBlank && bytes[index] == Byte.hash {
      return EnvironmentText.Assignment(name: name, value: nil, range: range)
    }
    guard bytes[index] == Byte.equals else {
      throw unexpected(
        "after the name of a variable, expected \"=\"",
        help: "write NAME=VALUE; a name has letters, digits, \"_\", \".\" and \"-\"")
    }
    index += 1
    skipBlanks()
    return EnvironmentText.Assignment(name: name, value: try value(), range: range)
  }

  /// Skips `export`, unless it is the name of a variable.
  private mutating func skipExport() {
    guard bytes[index...].starts(with: "export".utf8) else { return }
    let start = index
    index += 6
    if !skipBlanks() || isAtLineEnd || bytes[index] == Byte.equals || bytes[index] == Byte.hash {
      index = start
    }
  }

  private mutating func name() throws(Problem) -> String {
    let start = index
    guard Byte.beginsName(bytes[index]) else {
      throw unexpected(
        "where a variable begins, expected its name",
        help: "write NAME=VALUE, or # before a comment")
    }
    while index < bytes.count, Byte.isInName(bytes[index]) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  private mutating func value() throws(Problem) -> [Part] {
    guard index < bytes.count else { return [] }
    switch bytes[index] {
    case Byte.single, Byte.double:
      let value = try quotedValue()
      let hasBlank = skipBlanks()
      guard isAtLineEnd || hasBlank && bytes[index] == Byte.hash else {
        throw unexpected(
          "after the closing quote, expected the end of the line",
          help: "quote the whole value, and write \" #\" before a comment")
      }
      return value
    default:
      let end = endOfUnquotedValue()
      defer { index = end }
      return try parts(to: end, quoted: false)
    }
  }

  /// The offset behind the last character of a value that ends with its line, or with a comment.
  private func endOfUnquotedValue() -> Int {
    var end = index
    while end < bytes.count, !isLineEnd(end) {
      if bytes[end] == Byte.hash, Byte.isBlank(bytes[end - 1]) { break }
      end += 1
    }
    while end > index, Byte.isBlank(bytes[end - 1]) { end -= 1 }
    return end
  }

  // MARK: Values

  private mutating func quotedValue() throws(Problem) -> [Part] {
    let (quote, opening) = (bytes[index], index)
    var end = index + 1
    while end < bytes.count, bytes[end] != quote { end += bytes[end] == Byte.backslash ? 2 : 1 }
    guard end < bytes.count else {
      index = bytes.count
      throw Problem(
        message: "the quote is never closed",
        help: "close it, also when the value has several lines",
        range: SourceRange(start: opening, end: opening + 1))
    }
    index += 1
    // Also after a problem: the lines of the value are no assignments.
    defer { index = end + 1 }
    return quote == Byte.double ? try parts(to: end, quoted: true) : [.literal(literally(to: end))]
  }

  /// The text of a value in single quotes, in which a backslash only escapes a quote.
  private func literally(to end: Int) -> [UInt8] {
    var text: [UInt8] = []
    var next = index
    while next < end {
      let isEscape = bytes[next] == Byte.backslash
      if isEscape, bytes[next + 1] != Byte.single { text.append(Byte.backslash) }
      if isEscape { next += 1 }
      if !isReturnOfLineEnd(next) { text.append(bytes[next]) }
      next += 1
    }
    return text
  }

  /// Reads literal text and references, up to a closing brace within a reference.
  ///
  /// Recursive: at most ``depth`` deep.
  private mutating func parts(
    to end: Int, quoted isQuoted: Bool, depth: Int = 0
  ) throws(Problem) -> [Part] {
    var parts: [Part] = []
    var text: [UInt8] = []
    while index < end {
      switch bytes[index] {
      case Byte.dollar:
        guard let reference = try reference(to: end, quoted: isQuoted, depth: depth) else {
          text.append(Byte.dollar)
          continue
        }
        if !text.isEmpty { parts.append(.literal(text)) }
        text = []
        parts.append(.variable(reference))
      case Byte.backslash: text.append(try escape(quoted: isQuoted))
      case Byte.closingBrace where depth > 0:
        return text.isEmpty ? parts : parts + [.literal(text)]
      case Byte.return:
        guard isReturnOfLineEnd(index) else {
          throw unexpected("in the value", help: "write \\r in double quotes")
        }
        index += 1
      default:
        text.append(bytes[index])
        index += 1
      }
    }
    return text.isEmpty ? parts : parts + [.literal(text)]
  }

  /// Without quotes a backslash is a character like others. Before a `$`, programs disagree about it.
  private mutating func escape(quoted isQuoted: Bool) throws(Problem) -> UInt8 {
    let next = index + 1 < bytes.count ? bytes[index + 1] : nil
    guard isQuoted else {
      if next == Byte.dollar {
        throw unexpectedEscape(help: "write $$ for a literal $, or put the value in single quotes")
      }
      index += 1
      return Byte.backslash
    }
    guard let next, let meaning = Byte.escapes[next] else {
      throw unexpectedEscape(
        help: "write \\\\ for a backslash, or put the value in single quotes; "
          + "escapes are \\n, \\r, \\t, \\\\, \\\" and \\$")
    }
    index += 2
    return meaning
  }

  /// The reference at a `$`; `nil`, behind what is skipped, for a `$` that is literal.
  private mutating func reference(
    to end: Int, quoted isQuoted: Bool, depth: Int
  ) throws(Problem) -> EnvironmentText.Reference? {
    let start = index
    index += 1
    guard index < end else { return nil }
    if bytes[index] == Byte.dollar {
      index += 1
      return nil
    }
    let isBraced = bytes[index] == Byte.openingBrace
    if isBraced { index += 1 }
    guard index < end, Byte.beginsName(bytes[index]) else {
      if !isBraced { return nil }
      throw malformedReference(at: start, to: end)
    }
    let first = index
    while index < end, Byte.isInReference(bytes[index]) { index += 1 }
    let name = String(decoding: bytes[first..<index], as: UTF8.self)
    var reference = EnvironmentText.Reference(
      name: name, range: SourceRange(start: start, end: index))
    guard isBraced else { return reference }
    if index < end, bytes[index] != Byte.closingBrace {
      guard depth < EnvironmentTextReader.depth else {
        throw Problem(
          message: "references are nested more than \(EnvironmentTextReader.depth) deep",
          range: reference.range)
      }
      try readRule(of: &reference, from: start, to: end)
      reference.operand = try parts(to: end, quoted: isQuoted, depth: depth + 1)
    }
    guard index < end else { throw malformedReference(at: start, to: end) }
    index += 1
    reference.range.end = UInt32(index)
    return reference
  }

  private mutating func readRule(
    of reference: inout EnvironmentText.Reference, from start: Int, to end: Int
  ) throws(Problem) {
    if bytes[index] == Byte.colon {
      reference.treatsEmptyAsUnset = true
      index += 1
    }
    guard index < end, let rule = Byte.rules[bytes[index]] else {
      throw malformedReference(at: start, to: end)
    }
    reference.rule = rule
    index += 1
  }

  // MARK: Characters

  private func isLineEnd(_ index: Int) -> Bool {
    bytes[index] == Byte.newline || isReturnOfLineEnd(index)
  }

  private func isReturnOfLineEnd(_ index: Int) -> Bool {
    bytes[index] == Byte.return && (index + 1 == bytes.count || bytes[index + 1] == Byte.newline)
  }

  private var isAtLineEnd: Bool { index >= bytes.count || isLineEnd(index) }

  /// - Returns: Whether there were any.
  @discardableResult
  private mutating func skipBlanks() -> Bool {
    let start = index
    while index < bytes.count, Byte.isBlank(bytes[index]) { index += 1 }
    return index > start
  }

  private mutating func skipLine() {
    while index < bytes.count, bytes[index] != Byte.newline { index += 1 }
    index += 1
  }

  // MARK: Problems

  /// A problem with the character here, which alone is named: the text around it may be a secret.
  private func unexpected(_ place: String, help: String) -> Problem {
    let end = bytes[(index + 1)...].firstIndex { $0 & 0xC0 != 0x80 } ?? bytes.count
    let found = String(decoding: bytes[index..<end], as: UTF8.self)
    return Problem(
      message: "found \(found == "\r" ? "a carriage return" : shown(found)) \(place)", help: help,
      range: SourceRange(start: index, end: end))
  }

  private func unexpectedEscape(help: String) -> Problem {
    let end = min(index + 2, bytes.count)
    let next = bytes[(index + 1)..<end].first ?? Byte.newline
    let isVisible = next > 0x20 && next < 0x7F
    let found = isVisible ? shown("\\\(Character(Unicode.Scalar(next)))") : "a backslash"
    return Problem(
      message: "found \(found), which is not an escape here", help: help,
      range: SourceRange(start: index, end: isVisible ? end : index + 1))
  }

  /// A character in quotes; a backslash is not doubled, unlike in ``quoted(_:)``.
  private func shown(_ text: String) -> String {
    text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? "\"\(text)\"" : quoted(text)
  }

  private func malformedReference(at start: Int, to end: Int) -> Problem {
    Problem(
      message: index < end
        ? "found \"${\" without a reference that can be read" : "\"${\" is never closed",
      help:
        "write ${NAME}, ${NAME:-default}, ${NAME:?message} or ${NAME:+text}, also without \":\"; "
        + "$$ is a literal $",
      range: SourceRange(start: start, end: min(start + 2, end)))
  }
}

/// The characters of env files.
private enum Byte {
  static let newline = UInt8(ascii: "\n")
  static let `return` = UInt8(ascii: "\r")
  static let hash = UInt8(ascii: "#")
  static let equals = UInt8(ascii: "=")
  static let single = UInt8(ascii: "'")
  static let double = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let dollar = UInt8(ascii: "$")
  static let colon = UInt8(ascii: ":")
  static let openingBrace = UInt8(ascii: "{")
  static let closingBrace = UInt8(ascii: "}")

  static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): newline, UInt8(ascii: "r"): `return`, UInt8(ascii: "t"): UInt8(ascii: "\t"),
    backslash: backslash, double: double, dollar: dollar,
  ]

  static let rules: [UInt8: EnvironmentText.Reference.Rule] = [
    UInt8(ascii: "-"): .standard, UInt8(ascii: "?"): .required, UInt8(ascii: "+"): .alternative,
  ]

  static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  static func beginsName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  static func isInReference(_ byte: UInt8) -> Bool {
    beginsName(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  static func isInName(_ byte: UInt8) -> Bool {
    isInReference(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
  }
}
