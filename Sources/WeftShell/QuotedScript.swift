import WeftDiagnostics

/// A script in which expressions are replaced by references to variables.
///
/// A value never becomes code: it is passed in the environment, and the text refers to it, quoted as its position
/// requires. A lexer of the shell's own grammar reads the script once. Expressions after syntax that it cannot
/// follow exactly, or in text that the shell would evaluate again, are rejected.
///
/// ```swift
/// let script = QuotedScript("echo ${{ inputs.name }}", holes: [5..<23], dialect: .posix)
/// let names = script.variableNames(for: ["inputs.name"])     // ["WEFT_VALUE_1"]
/// script.text(referringTo: names)                            // echo "${WEFT_VALUE_1}"
/// ```
package struct QuotedScript: Sendable, Hashable {
  /// The original text.
  package let text: String
  /// The placeholders in UTF-8 offsets, `${{` and `}}` included.
  package let placeholders: [Range<Int>]
  /// One for each placeholder, in the same order.
  package let placements: [ShellPlacement]
  /// Values that can be quoted, but may still be run by a program.
  package let suspicions: [ShellSuspicion]

  /// - Parameters:
  ///   - values: A bound on each expression's value, for an array on its elements; empty if none is known.
  ///   - lists: The indices of the expressions whose values are arrays.
  /// - Precondition: `placeholders` are in order, not empty and do not overlap, and lie in `text`.
  package init(
    _ text: String, placeholders: [Range<Int>], dialect: ShellDialect, values: [ValueText] = [],
    lists: Set<Int> = []
  ) {
    precondition(
      values.isEmpty || values.count == placeholders.count, "one for each expression, or none")
    self.text = text
    self.placeholders = placeholders
    let found = ScriptReading.placements(
      of: placeholders, in: text, dialect: dialect, values: values)
    let reading = ScriptLists(
      text: text, placeholders: placeholders, dialect: dialect, values: values, lists: lists)
    (placements, suspicions) =
      lists.isEmpty ? found : reading.merging(found.placements, found.suspicions)
  }

  /// The values from outside that a script evaluates or runs; `nil` if its language is not known.
  package static func evaluation(
    of text: String, placeholders: [Range<Int>], dialect: ShellDialect
  ) -> ScriptEvaluation? {
    ScriptReading.evaluation(of: text, placeholders: placeholders, dialect)
  }

  /// The variables that the script reads and does not set itself, each at its first read; `nil` if the script
  /// cannot be followed to its end, or runs text that may set any variable.
  package static func readsFromOutside(
    by text: String, placeholders: [Range<Int>], dialect: ShellDialect
  ) -> [VariableRead]? {
    ScriptReading.readsFromOutside(by: text, placeholders: placeholders, dialect)
  }

  /// Whether every expression can be quoted.
  package var isSound: Bool {
    placements.allSatisfy { if case .quoted = $0 { true } else { false } }
  }

  /// The rejections in the order of the text, with the indices of their placeholders.
  package var rejections: [(placeholder: Int, rejection: ShellQuotingError)] {
    placements.indices.compactMap { index in
      guard case .rejected(let rejection) = placements[index] else { return nil }
      return (index, rejection)
    }
  }

  /// A name for each expression's variable: `WEFT_VALUE_1` and so on; equal expressions share one.
  ///
  /// If the script mentions `WEFT_VALUE_` itself and so might assign such a variable, the names are
  /// `WEFT_VALUE_X_1`, with as many `X` as needed to be unused.
  ///
  /// - Precondition: There are as many expressions as placeholders.
  package func variableNames(for expressions: [String]) -> [String] {
    precondition(expressions.count == placeholders.count, "one expression for each hole")
    let prefix = unmentionedPrefix
    var numbers: [String: Int] = [:]
    return expressions.map { expression in
      let number = numbers[expression] ?? numbers.count + 1
      numbers[expression] = number
      return prefix + String(number)
    }
  }

  /// The script to run: each expression replaced by a reference to its variable.
  ///
  /// - Precondition: The script is sound, and there are as many names as placeholders.
  package func text(referringTo names: [String]) -> String {
    precondition(
      isSound && names.count == placeholders.count, "every expression has a place and a name")
    var result = ""
    var end = text.startIndex
    for index in placeholders.indices {
      guard case .quoted(let quoting, _) = placements[index] else { continue }
      result += text[end..<self.index(placeholders[index].lowerBound)]
      result += quoting.reference(to: names[index])
      end = self.index(placeholders[index].upperBound)
    }
    return result + text[end...]
  }

  /// A prefix for variable names that the script does not mention outside of its expressions.
  private var unmentionedPrefix: String {
    var prefix = "WEFT_VALUE_"
    guard Array(text.utf8).mentions(prefix) else { return prefix }
    let script = ScriptText(text, placeholders: placeholders)
    while script.bytes.mentions(prefix) {
      prefix = prefix.dropLast() + (prefix.hasSuffix("X_") ? "X_" : "_X_")
    }
    return prefix
  }

  private func index(_ offset: Int) -> String.Index {
    text.utf8.index(text.startIndex, offsetBy: offset)
  }
}

extension [UInt8] {
  /// Whether these bytes contain `text`, which is ASCII and whose first character occurs in it only once.
  fileprivate func mentions(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    var matched = 0
    for byte in self {
      if byte == wanted[matched] {
        matched += 1
        if matched == wanted.count { return true }
      } else {
        matched = byte == wanted[0] ? 1 : 0
      }
    }
    return false
  }
}

/// The values that reach a script from outside and that it evaluates or runs.
package struct ScriptEvaluation: Sendable, Hashable {
  /// Variables, among other words. After an obstacle, all that are mentioned.
  package let variables: Set<String>
  /// Whether its standard input is a part of them.
  package let includesInput: Bool
  /// Whether all variables of the environment are: `make` expands them.
  package let includesEnvironment: Bool
  /// The line and the construct after which the script is not read; `nil` if it is read to its end.
  package let obstacle: String?
}

/// The treatment of one expression in a script.
package enum ShellPlacement: Sendable, Hashable {
  /// It is replaced by a reference to its variable.
  ///
  /// `mayBeOption`: it begins an argument of a program before any `--`, so that the program would read a
  /// value that begins with `-` as an option.
  case quoted(ShellQuoting, mayBeOption: Bool)
  case rejected(ShellQuotingError)
}

/// The context of an expression, which determines how the reference to its variable is written.
package enum ShellQuoting: Sendable, Hashable {
  /// Outside all quotes.
  case bare
  /// Inside `"…"`.
  case doubleQuotes
  /// Inside `'…'`.
  case singleQuotes
  /// Inside `$'…'`.
  case dollarQuotes
  /// In the body of a here-document whose delimiter is not quoted.
  case hereDocument
  /// An operand of an arithmetic expression: its value is an integer.
  case arithmetic
  /// In a comment: the value is not needed.
  case comment

  /// The text that refers to the variable in this context.
  package func reference(to name: String) -> String {
    switch self {
    case .bare: "\"${\(name)}\""
    case .doubleQuotes, .hereDocument, .comment: "${\(name)}"
    // `3 - -5` would be an error of zsh without blanks or parentheses.
    case .arithmetic: " (${\(name)}) "
    case .singleQuotes: "'\"${\(name)}\"'"
    case .dollarQuotes: "'\"${\(name)}\"$'"
    }
  }
}

/// The language of a script, as far as the safe positions of values in it are known.
package enum ShellDialect: Sendable, Hashable {
  /// The common subset of dash, bash called as `sh`, and busybox; where they differ, nothing is assumed.
  case posix
  case bash
  case zsh
  /// Any other language, by the name of its program: its scripts cannot contain values.
  case unknown(String)

  /// The dialect of a shell's scripts.
  ///
  /// A command line is known only if its program is, and if it ends in `-c` after options that do not
  /// change how text is read; the script follows `-c`.
  ///
  /// - Precondition: `commandLine` is not empty.
  package init(commandLine: [String]) {
    var words = commandLine[...]
    let program = Self.basename(words.removeFirst())
    let applet = program == "busybox" ? words.popFirst() ?? program : program
    guard let dialect = Self.named[applet], Self.endsInScript(words) else {
      self = .unknown(program)
      return
    }
    self = dialect
  }

  /// The dialect of the shell with this name.
  init(program: String) { self = Self.named[program] ?? .unknown(program) }

  /// The dialects by the name of the program, without its folder.
  private static let named: [String: ShellDialect] = [
    "sh": .posix, "dash": .posix, "ash": .posix, "bash": .bash, "zsh": .zsh,
  ]

  static func basename(_ path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  private static func endsInScript(_ words: ArraySlice<String>) -> Bool {
    var words = words
    var hasCommand = false
    while let word = words.popFirst() {
      if ["--norc", "--noprofile", "--no-rcs"].contains(word) { continue }
      guard word.first == "-", !word.dropFirst().isEmpty,
        word.dropFirst().allSatisfy({ "ceufxlo".contains($0) })
      else { return false }
      hasCommand = hasCommand || word.contains("c")
      if word.contains("o") {
        guard let name = words.popFirst(), OptionNames.harmless.contains(name) else { return false }
      }
    }
    return hasCommand
  }
}

/// Shell options that do not change how text is read.
enum OptionNames {
  static let harmless: Set<String> = [
    "allexport", "errexit", "errtrace", "functrace", "monitor", "noclobber", "noglob", "notify",
    "nounset", "pipefail", "verbose", "xtrace", "err_exit", "no_unset", "pipe_fail",
  ]
}

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
      .afterDollar, .descriptor, .list, .assignmentName, .functionName, .loopName:
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
