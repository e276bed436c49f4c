import WeftDiagnostics

/// The knowledge about a value's text before a run, for positions where that text might be evaluated.
package struct ValueText: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Any text.
  package static let any: ValueText = []
  /// A number, `true` or `false`, or one of the texts that the workflow lists, which no input composes.
  package static let listed = ValueText(rawValue: 1)
  /// Letters, digits and `_ . , : / @ + = -`, and no `-` at its beginning; perhaps empty.
  package static let word = ValueText(rawValue: 2)
  /// Letters, digits and `_ . -`, and no `-` at its beginning. It is also a ``word``.
  package static let name = ValueText(rawValue: 2 | 8)
  /// A decimal integer without leading zeros, which arithmetic evaluates to itself. It is also ``listed``.
  package static let integer = ValueText(rawValue: 1 | 4)
}

/// The declaration of a value that would allow it in a position where it is rejected.
package enum ValueProof: Sendable, Hashable, CaseIterable {
  case word, integer, listed

  /// A pattern of such values.
  package var pattern: String? {
    switch self {
    case .word: "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"
    case .integer: "^(0|[1-9][0-9]*)$"
    case .listed: nil
    }
  }

  var help: String {
    switch self {
    case .word: "a value with the \"pattern\" \(quoted(pattern!)) is allowed here"
    case .integer:
      "a value of the \"type\" \"integer\", or with the \"pattern\" \(quoted(pattern!)), is allowed here"
    case .listed: "a value with an \"enum\" is allowed here"
    }
  }
}

extension ShellQuotingError.Reason {
  /// Whether a value of which this much is known is harmless in this position and can be passed there.
  ///
  /// A word is not harmless in the text of a program: it may be the name of a variable, which arithmetic evaluates
  /// again, or a command. ``CommandAnalyzer`` finds the places in such text where it is data.
  ///
  /// - Parameter sufficient: The knowledge that makes a value data in this place, if that is less than a list.
  func isHarmless(for text: ValueText, sufficient: ValueText?) -> Bool {
    let isListed = text.contains(.listed)
    let isWord = text.contains(.word)
    return switch self {
    // Nothing is expanded there, or a name must be literal.
    case .unknownShell, .unfollowable, .quotedHereDocument, .hereDocumentDelimiter, .afterBackslash,
      .afterDollar, .descriptor, .assignmentName, .functionName, .loopName:
      false
    case .arithmetic, .elementIndex, .expansion(isEvaluated: true): text.contains(.integer)
    // Without quotes, it may be split at blanks.
    case .expansion(isEvaluated: false): isWord || text.contains(.integer)
    case .format, .backquotes: isListed || isWord
    case .programText, .scriptText, .runArgument, .programInput, .evaluatedArgument, .optionOf,
      .unknownCommand, .translated, .condition, .longTest, .evaluatedLater, .attributes,
      .commandWord, .specialVariable, .programFile:
      isListed || sufficient.map(text.contains) ?? false
    }
  }

  /// The weakest declaration that makes a value harmless in this position.
  func proof(sufficient: ValueText?) -> ValueProof? {
    if isHarmless(for: .name, sufficient: sufficient) { return .word }
    guard isHarmless(for: .integer, sufficient: nil) else { return nil }
    switch self {
    case .arithmetic, .elementIndex, .expansion, .condition, .evaluatedLater, .attributes:
      return .integer
    case .programText, .scriptText, .runArgument, .commandWord, .unknownCommand: return .listed
    // The remedies of the others are better than a list.
    default: return nil
    }
  }
}
