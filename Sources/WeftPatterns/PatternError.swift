import WeftDiagnostics

/// The reason why a text is not a pattern, and its location.
public struct PatternError: Error, Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case tooLong(bytes: Int)
    case tooDeep
    case tooLarge
    case unclosedGroup
    case unclosedClass
    case unopened(Character)
    case nothingToRepeat(String)
    case repeatedTwice(String)
    case malformedCount
    case countsOutOfOrder(Int, Int)
    case countTooLarge(String)
    case trailingBackslash
    case unknownEscape(String)
    case malformedCode(String)
    case unknownCategory(String)
    case rangeOutOfOrder(String)
    case classInRange(String)
    case lookaround(String)
    case backreference(String)
    case unknownGroup(String)
  }

  let kind: Kind
  /// UTF-8 offsets in the pattern.
  public let range: Range<Int>

  init(_ kind: Kind, _ range: Range<Int>) {
    self.kind = kind
    self.range = range
  }

  /// The problem: lower case, no full stop.
  public var message: String {
    switch kind {
    case .tooLong(let bytes):
      "it has \(bytes) bytes, expected at most \(PatternLimits.bytes)"
    case .tooDeep: "its groups are nested more than \(PatternLimits.depth) deep"
    case .tooLarge:
      "it is too large: its repetitions expand to more than \(PatternLimits.instructions) parts"
    case .unclosedGroup: "the group is not closed, expected \")\""
    case .unclosedClass: "the class is not closed, expected \"]\""
    case .unopened(let character): "unmatched \"\(character)\""
    case .nothingToRepeat(let mark): "there is nothing to repeat before \"\(mark)\""
    case .repeatedTwice(let mark): "\"\(mark)\" follows another repetition"
    case .malformedCount: "\"{\" is not followed by a count, expected one like {3}, {3,} or {3,5}"
    case .countsOutOfOrder(let least, let most): "the count goes from \(least) down to \(most)"
    case .countTooLarge(let count):
      "the count \(count) is too large, expected at most \(PatternLimits.instructions)"
    case .trailingBackslash: "there is nothing after the last \"\\\""
    case .unknownEscape(let escape): "\(quoted(escape)) is not a known escape"
    case .malformedCode(let escape): "\(quoted(escape)) is not a valid character code"
    case .unknownCategory(let name): "\(quoted(name)) is not a general category of Unicode"
    case .rangeOutOfOrder(let range): "the range \(quoted(range)) is out of order"
    case .classInRange(let escape): "\(quoted(escape)) cannot be the end of a range"
    case .lookaround(let opener): "\(quoted(opener)): lookaround is not supported"
    case .backreference(let escape): "\(quoted(escape)): backreferences are not supported"
    case .unknownGroup(let opener): "\(quoted(opener)) is not a known kind of group"
    }
  }

  /// The suggested remedy.
  public var help: String? {
    switch kind {
    case .unopened(let character): "for the character itself write \"\\\(character)\""
    case .nothingToRepeat(let mark): "for the character itself write \"\\\(mark)\""
    case .malformedCount: "for the character itself write \"\\{\""
    case .repeatedTwice: "wrap the repeated part in a group: (?:a+)*"
    case .trailingBackslash: "for the character itself write \"\\\\\""
    case .unknownEscape("\\A"): "the start of the text is ^"
    case .unknownEscape("\\Z"), .unknownEscape("\\z"): "the end of the text is $"
    case .unknownEscape:
      "known escapes are \\d \\D \\w \\W \\s \\S \\b \\B \\t \\n \\r \\f \\v \\xHH \\uHHHH \\p{L}"
    case .malformedCode: "codes are written \\x41, \\u0041 or \\u{1F600}, and \\cA to \\cZ"
    case .unknownCategory: "categories are written as in \\p{L} or \\p{Lu}"
    case .classInRange: "put the \"-\" at the end of the class, or write \\-"
    case .lookaround, .backreference:
      "patterns are matched in linear time, without these; use \"enum\", or "
        + "check the value in a step"
    case .unknownGroup: "groups are (…), (?:…) and (?<name>…)"
    case .tooLarge, .countTooLarge: "\"minLength\" and \"maxLength\" limit lengths"
    case .tooLong, .tooDeep: "check such a value in a step"
    case .unclosedGroup, .unclosedClass, .countsOutOfOrder, .rangeOutOfOrder: nil
    }
  }
}
