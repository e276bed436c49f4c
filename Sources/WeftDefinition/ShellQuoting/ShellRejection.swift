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
    /// An argument that a program runs, or hands to one that does.
    case runArgument(String)
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
  /// Whether it holds as well where no shell reads the command line: the program itself takes the value
  /// for a part of its code.
  package var holdsWithoutShell: Bool {
    switch reason {
    case .programText, .scriptText, .runArgument, .specialVariable: true
    default: false
    }
  }

  /// Whether a program is known that may read one of its arguments as code, or that starts such a one.
  package static func mayReadCode(program: String) -> Bool {
    let name = program.utf8.lastIndex(of: UInt8(ascii: "/")).map {
      program[program.utf8.index(after: $0)...]
    }
    return CommandRule.named(name.map(String.init) ?? program, .posix) != nil
  }
}
