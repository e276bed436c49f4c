/// A bound on the text of a value, known before a run, for positions where that text might be run.
package enum ValueText: Sendable, Hashable {
  case any
  /// Letters, digits and `_ . , : / @ + = -`, and no `-` at its beginning.
  case word
  /// A number, `true` or `false`, or one of the texts that the workflow lists.
  case listed
}

extension ShellQuotingError.Reason {
  /// Whether a value of which this much is known is harmless in this position and can be passed there.
  ///
  /// - Parameters:
  ///   - isGlued: Whether a sign of a word is directly before it, so that it begins no word in any
  ///     language.
  ///   - isArgument: Whether it is not the first word of the text that is run.
  func isHarmless(for text: ValueText, isGlued: Bool, isArgument: Bool) -> Bool {
    switch (self, text) {
    case (_, .any): false
    // Nothing is expanded there, or a name must be literal.
    case (.unknownShell, _), (.unfollowable, _), (.quotedHereDocument, _),
      (.hereDocumentDelimiter, _),
      (.backquotes, _), (.expansion, _), (.translated, _), (.afterBackslash, _), (.afterDollar, _),
      (.descriptor, _), (.arithmetic, _), (.elementIndex, _), (.assignmentName, _),
      (.functionName, _),
      (.loopName, _):
      false
    case (_, .listed): true
    case (.format, .word): true
    case (.optionOf, .word): !isGlued
    case (.programText, .word), (.scriptText, .word), (.runArgument, .word), (.programInput, .word),
      (.evaluatedArgument, .word):
      isGlued || isArgument
    default: false
    }
  }
}
