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
      "it has \(bytes) bytes, and the longest pattern has \(PatternLimits.bytes)"
    case .tooDeep: "its groups are nested more than \(PatternLimits.depth) deep"
    case .tooLarge:
      "it is too large: written out, its repetitions come to more than "
        + "\(PatternLimits.instructions) parts"
    case .unclosedGroup: "the group is not closed, expected \")\""
    case .unclosedClass: "the class is not closed, expected \"]\""
    case .unopened(let character): "\"\(character)\" closes nothing"
    case .nothingToRepeat(let mark): "there is nothing before \"\(mark)\" that it could repeat"
    case .repeatedTwice(let mark): "\"\(mark)\" stands after a repetition"
    case .malformedCount: "\"{\" begins no count, expected one like {3}, {3,} or {3,5}"
    case .countsOutOfOrder(let least, let most): "the count goes from \(least) to \(most)"
    case .countTooLarge(let count):
      "the count \(count) is too large, expected \(PatternLimits.instructions) at most"
    case .trailingBackslash: "there is nothing after the last \"\\\""
    case .unknownEscape(let escape): "\(quoted(escape)) has no meaning"
    case .malformedCode(let escape): "\(quoted(escape)) is not the code of a character"
    case .unknownCategory(let name): "\(quoted(name)) is not a general category of Unicode"
    case .rangeOutOfOrder(let range): "the range \(quoted(range)) goes backwards"
    case .classInRange(let escape): "\(quoted(escape)) cannot be the end of a range"
    case .lookaround(let opener): "\(quoted(opener)) looks around, and patterns here do not"
    case .backreference(let escape): "\(quoted(escape)) refers back, and patterns here do not"
    case .unknownGroup(let opener): "\(quoted(opener)) begins no known kind of group"
    }
  }

  /// The suggested remedy.
  public var help: String? {
    switch kind {
    case .unopened(let character): "for the character itself write \"\\\(character)\""
    case .nothingToRepeat(let mark): "for the character itself write \"\\\(mark)\""
    case .malformedCount: "for the character itself write \"\\{\""
    case .repeatedTwice: "put what is repeated into a group: (?:a+)*"
    case .trailingBackslash: "for the character itself write \"\\\\\""
    case .unknownEscape("\\A"): "the start of the text is ^"
    case .unknownEscape("\\Z"), .unknownEscape("\\z"): "the end of the text is $"
    case .unknownEscape:
      "known are \\d \\D \\w \\W \\s \\S \\b \\B \\t \\n \\r \\f \\v \\xHH \\uHHHH \\p{L}"
    case .malformedCode: "codes are written \\x41, \\u0041 or \\u{1F600}, and \\cA to \\cZ"
    case .unknownCategory: "categories are written as in \\p{L} or \\p{Lu}"
    case .classInRange: "put the \"-\" at the end of the class, or write \\-"
    case .lookaround, .backreference:
      "a pattern is matched in a time that grows with the text only; say the same with \"enum\", "
        + "or check the value in a step"
    case .unknownGroup: "groups are (…), (?:…) and (?<name>…)"
    case .tooLarge, .countTooLarge: "\"minLength\" and \"maxLength\" limit lengths"
    case .tooLong, .tooDeep: "check such a value in a step"
    case .unclosedGroup, .unclosedClass, .countsOutOfOrder, .rangeOutOfOrder: nil
    }
  }
}
