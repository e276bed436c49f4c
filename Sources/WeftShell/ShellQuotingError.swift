/// The reason why an expression is not allowed at its position in a script.
package struct ShellQuotingError: Error, Sendable, Hashable {
  package let reason: Reason
  /// The original text, `${{` and `}}` included.
  package let expression: String

  init(_ reason: Reason, expression text: String, _ placeholder: Range<Int>) {
    self.reason = reason
    let start = text.utf8.index(text.startIndex, offsetBy: placeholder.lowerBound)
    let end = text.utf8.index(text.startIndex, offsetBy: placeholder.upperBound)
    expression = String(text[start..<end])
  }

  package enum Reason: Sendable, Hashable {
    // The script as a whole
    case unknownShell(String)
    case unfollowable(Construct, line: Int)

    // Positions where the shell expands nothing, or where quotes cannot be proved to hold
    case quotedHereDocument
    case hereDocumentDelimiter
    case backquotes
    case expansion
    case translated
    case afterBackslash
    case afterDollar
    case descriptor

    // Positions where the shell evaluates the value of a quoted variable
    case arithmetic
    case elementIndex
    /// `[[` or `[` with this operator, if it is known.
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
    /// An argument that a program runs, or passes to one that does.
    case runArgument(String)
    case optionOf(String)
    case format
  }

  /// A construct beyond which the script is not read.
  package enum Construct: Sendable, Hashable {
    /// The original syntax, such as `((`.
    case syntax(String)
    /// A command that changes how the shell reads the text after it.
    case changesReading(command: String)
    /// A construct that is never closed, or closed without having been opened.
    case unbalanced(String)
    case controlCharacter
    case tooDeep
  }
}

extension ShellQuotingError {
  /// Whether it also applies if no shell reads the command line: the program itself takes the value as code.
  package var holdsWithoutShell: Bool {
    switch reason {
    case .programText, .scriptText, .runArgument, .specialVariable: true
    default: false
    }
  }

  /// Whether a program is known to read an argument as code, or to start a program that does.
  package static func mayReadCode(program: String) -> Bool {
    let name = program.utf8.lastIndex(of: UInt8(ascii: "/")).map {
      program[program.utf8.index(after: $0)...]
    }
    return CommandRule.named(name.map(String.init) ?? program, .posix) != nil
  }
}
