import WeftDiagnostics

/// The name of a step, unique in its file: `[A-Za-z_][A-Za-z0-9_-]{0,254}`.
public struct StepID: Sendable, Hashable {
  public let text: String

  /// `nil` if `text` is not a valid id.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  /// Marks the absence of an id where it may be omitted; no step has this id.
  @usableFromInline static let unnamed = StepID(unchecked: "")

  /// The id; `nil` if it is ``unnamed``.
  var given: StepID? { text.isEmpty ? nil : self }

  /// Checks the rule on bytes, for a decoder that has not made a string yet.
  package static func isValid(_ bytes: some Collection<UInt8>) -> Bool {
    bytes.withContiguousStorageIfAvailable(holds(for:))
      ?? Array(bytes).withUnsafeBufferPointer(holds(for:))
  }

  private static func holds(for bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = bytes.first, bytes.count <= longest, !isDigit(first),
      first != UInt8(ascii: "-")
    else { return false }
    for byte in bytes {
      let isMark = byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      guard isLetter(byte) || isDigit(byte) || isMark else { return false }
    }
    return true
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension StepID: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a valid id.
  public init(stringLiteral text: String) {
    guard let id = StepID(text) else {
      preconditionFailure("\"\(text)\" is not an id: [A-Za-z_][A-Za-z0-9_-]{0,254}")
    }
    self = id
  }
}

extension StepID: CustomStringConvertible {
  public var description: String { text }
}

extension StepID {
  /// The reason why a text is not an id.
  package enum ParseError: Error, Sendable, Hashable {
    case empty
    case tooLong(bytes: Int)
    case beginning(Character)
    case character(Character)
  }

  /// The most characters of an id.
  package static let longest = 255

  /// The first problem that keeps `text` from being an id; `nil` if it is one.
  package static func fault(in text: String) -> ParseError? {
    guard !isValid(text.utf8) else { return nil }
    guard let first = text.first else { return .empty }
    if let wrong = text.first(where: { !isValid("_\($0)".utf8) }) { return .character(wrong) }
    if !isValid("\(first)".utf8) { return .beginning(first) }
    return .tooLong(bytes: text.utf8.count)
  }
}

extension StepID.ParseError {
  static let rule =
    "an id has at most \(StepID.longest) characters: letters, digits, \"_\" and \"-\"; it begins "
    + "with a letter or \"_\"; a \"name\" can be any text"

  var complaint: String {
    switch self {
    case .empty: "is empty"
    case .tooLong(let bytes): "has \(bytes) characters"
    case .beginning(let character): "begins with \(quoted(String(character)))"
    case .character(let character): "contains \(named(character))"
    }
  }
}

/// A character and, where its appearance may deceive, its code points.
func named(_ character: Character) -> String {
  character.isASCII && character != " "
    ? quoted(String(character)) : "\(quoted(String(character))) (\(scalars(String(character))))"
}

/// The first 20 code points of the text, such as `U+0065 U+0301`.
func scalars(_ text: String) -> String {
  text.unicodeScalars.prefix(20).map { scalar in
    let hex = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
  }.joined(separator: " ")
}

/// Whether the text is a whole number of plausible size.
func isCount(_ text: String) -> Bool {
  (1...9).contains(text.utf8.count)
    && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
}
