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
