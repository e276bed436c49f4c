/// Why an expression cannot stand where it does in a script: the reason, and what to write instead.
package struct ShellRejection: Error, Sendable, Hashable {
  package let reason: Reason
  /// As it is written, `${{` and `}}` included.
  package let expression: String

  init(_ reason: Reason, expression text: String, _ hole: Range<Int>) {
    self.reason = reason
    let start = text.utf8.index(text.startIndex, offsetBy: hole.lowerBound)
    let end = text.utf8.index(text.startIndex, offsetBy: hole.upperBound)
    expression = String(text[start..<end])
  }

  package enum Reason: Sendable, Hashable {
    // The script as a whole
    case unknownShell(String)
    case unfollowable(Construct, line: Int)

    // Places where the shell expands nothing, or where quotes cannot be proved to hold
    case quotedHereDocument
    case hereDocumentDelimiter
    case backquotes
    case expansion
    case translated
    case afterBackslash
    case afterDollar
    case descriptor

    // Places where the shell evaluates what a quoted variable holds
    case arithmetic
    case elementIndex
    /// `[[` or `[` with that operator, if it is known.
    case condition(String?)
    case longTest
    case evaluatedArgument(String)
    case evaluatedLater(String)
    case attributes(String)

    // Names
    case commandWord
    case unknownCommand
    case assignmentName
    case functionName
    case loopName
    case specialVariable(String)

    // Text of another program
    case programText(String)
    case programFile(String)
    case programInput
    case scriptText(String)
    case optionOf(String)
    case format
  }

  /// What the script is not read beyond.
  package enum Construct: Sendable, Hashable {
    /// Named as it is written, such as `((`.
    case syntax(String)
    /// A command after which the shell reads text by other rules.
    case changesReading(command: String)
    /// Something is never closed, or closed without having been opened.
    case unbalanced(String)
    case controlCharacter
    case tooDeep
  }
}

extension ShellRejection {
  /// Found and wanted, without a full stop.
  package var message: String {
    "\(shown) " + reason.sentence
  }

  /// What to write instead.
  package var help: String {
    switch reason.cure {
    case .variable: "add \(entry) and use \"$VALUE\" here"
    case .variableAs(let use): "add \(entry) and \(use)"
    case .validated(let use):
      "\"$VALUE\" would be evaluated too: first make sure that the value is harmless, such as a number, "
        + "by the \"pattern\" of its input or in the script itself; then add \(entry) and \(use)"
    case .other(let advice): advice
    }
  }

  /// The expression, on one line and not longer than a message bears.
  private var shown: String {
    shortened(expression.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  private var entry: String { "\"env\": { \"VALUE\": \"\(shown)\" }" }
}

extension ShellRejection.Reason {
  enum Cure {
    case variable
    case variableAs(String)
    /// Even a quoted variable executes there.
    case validated(String)
    case other(String)
  }

  var sentence: String {
    switch self {
    case .unknownShell(let program):
      "stands in a script for \(quoted(program)), whose quoting is not known, expected sh, bash or zsh"
    case .unfollowable(let construct, let line):
      "stands where the script cannot be followed: \(construct.sentence) in line \(line)"
    case .quotedHereDocument:
      "stands in a here-document with a quoted delimiter, in which nothing is expanded"
    case .hereDocumentDelimiter: "stands in the delimiter of a here-document"
    case .backquotes: "stands between backquotes, which read quotes in another way"
    case .expansion: "stands inside of ${…}"
    case .translated: "stands in $\"…\", which is translated before it is expanded"
    case .afterBackslash:
      "stands directly behind a backslash, which would escape the quote around it"
    case .afterDollar: "stands directly behind a $, which would change the quotes around it"
    case .descriptor: "stands where the number of a descriptor is expected"
    case .arithmetic:
      "stands in an arithmetic expression, where a value such as a[$(command)] runs its command"
    case .elementIndex:
      "stands in a subscript, where a value such as a[$(command)] runs its command"
    case .condition(let operation?):
      "is an operand of \(quoted(operation)), which may evaluate it: a value such as a[$(command)] runs its command"
    case .condition(nil): "stands in a test whose operator is not written out"
    case .longTest:
      "stands in a test that is joined of several, so that a value may be taken for an operator"
    case .evaluatedArgument(let command):
      "is an argument of \"\(command)\", which evaluates its arguments"
    case .evaluatedLater(let name):
      name == "@"
        ? "becomes a parameter that the script evaluates"
        : "comes to be in the variable \"\(name)\", which the script evaluates"
    case .attributes(let name):
      "is assigned to \"\(name)\" in a script that gives variables attributes, by which an assignment may evaluate it"
    case .commandWord: "chooses the command that runs"
    case .unknownCommand: "is an argument of a command that is only known when it runs"
    case .assignmentName: "chooses the variable that is set"
    case .functionName: "is the name of a function"
    case .loopName: "is the name of a loop's variable"
    case .specialVariable(let name):
      "is the value of \"\(name)\", by which programs choose what they run"
    case .programText(let program): "stands in text that \"\(program)\" reads as a program"
    case .programFile(let program): "chooses the program that \"\(program)\" runs"
    case .programInput: "is part of what a command reads as its program"
    case .scriptText(let program): "stands in text that \"\(program)\" gives to a shell"
    case .optionOf(let program):
      "may be read as an option of \"\(program)\", which can run a program"
    case .format: "stands in the format of \"printf\", which reads % and \\ in it"
    }
  }

  var cure: Cure {
    switch self {
    case .unknownShell: .variableAs("read the variable VALUE in the script")
    case .unfollowable(.tooDeep, _), .unfollowable(.syntax, _), .unfollowable(.unbalanced, _),
      .unfollowable(.changesReading, _), .unfollowable(.controlCharacter, _), .quotedHereDocument,
      .hereDocumentDelimiter, .backquotes, .expansion, .translated, .afterBackslash, .afterDollar,
      .descriptor:
      .variable
    case .arithmetic: .validated("use $VALUE here")
    case .elementIndex, .condition, .evaluatedArgument, .attributes:
      .validated("use \"$VALUE\" here")
    case .evaluatedLater: .validated("use \"$VALUE\" here")
    case .longTest:
      .other("make tests of one operator each, joined by && or ||: [ a = b ] && [ c = d ]")
    case .commandWord:
      .other(
        "write \"run\" as an array, [\"\(Self.program)\", \"argument\"], or let a case statement choose the command"
      )
    case .unknownCommand: .other("write the name of the command out, or write \"run\" as an array")
    case .assignmentName, .functionName, .loopName: .other("write the name out")
    case .specialVariable(let name): .other("write the value of \(name) out")
    case .programText, .scriptText, .programInput, .programFile: .validated(passing)
    case .optionOf: .variableAs(afterDashes)
    case .format: .other("use the format '%s', and the expression as an argument of its own")
    }
  }

  private static let program = "${{ … }}"

  private var passing: String { "read VALUE there, as data" }
  private var afterDashes: String { "put -- before it" }
}

extension ShellRejection.Construct {
  var sentence: String {
    switch self {
    case .syntax(let text): "shells differ in how they read \(quoted(text))"
    case .changesReading(let command): "\(quoted(command)) may change how the text after it is read"
    case .unbalanced(let opening): "\(quoted(opening)) is not closed"
    case .controlCharacter: "it holds a control character"
    case .tooDeep: "more than \(ScriptReading.depthLimit) commands and expansions are nested"
    }
  }
}
