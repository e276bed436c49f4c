/// A word of a command, after the removal of quotes.
struct ShellWord {
  /// Its range in the script, quotes included.
  var range: Range<Int>
  /// Its characters without quotes; ``ScriptText/hole`` stands for each expression in it, ``expansion`` for
  /// the result of an expansion.
  var text: [UInt8]
  /// Whether it has no quotes, expansions and expressions.
  var isPlain: Bool
  /// The expressions in it, including those inside its `$(…)`.
  var placeholders: Range<Int>
  /// The length of `NAME` in `NAME=value` and `NAME+=value`, if it has that form.
  var assignedName: Int?

  /// Marks an expansion in ``text``.
  static let expansion: UInt8 = 0x02

  /// The word if it contains neither expansions nor expressions.
  var literal: String? {
    text.contains { $0 < 0x03 } ? nil : String(decoding: text, as: UTF8.self)
  }

  /// Its characters before any expansion or expression.
  var literalStart: ArraySlice<UInt8> { text.prefix { $0 > 0x02 } }

  var hasValue: Bool { !placeholders.isEmpty }

  /// Whether it is the literal name of a variable, without a subscript.
  var isPlainName: Bool { isPlain && text.allSatisfy(\.isName) }

  /// Whether its first character may come from an expression.
  var mayBeginWithValue: Bool {
    text.first { $0 != ShellWord.expansion } == ScriptText.placeholder
  }

  var hasExpansion: Bool { text.contains(ShellWord.expansion) }
}

/// A command that contains no other commands: words, assignments and redirections.
struct SimpleCommand {
  var start: Int
  var assignments: [ShellWord] = []
  var words: [ShellWord] = []
  var redirections: [Redirection] = []
}

/// One redirection, without its here-document's body.
struct Redirection {
  enum Kind { case file, descriptor, hereString, hereDocument }
  var kind: Kind
  var word: ShellWord
  /// The offset of its operator.
  var offset: Int
}
