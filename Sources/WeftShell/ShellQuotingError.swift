import WeftDiagnostics

/// The reason why an expression is not allowed at its position in a script.
package struct ShellQuotingError: Error, Sendable, Hashable {
  package let reason: Reason
  /// The original text, `${{` and `}}` included.
  package let expression: String
  /// The declaration that would allow it.
  package let proof: ValueProof?

  init(
    _ reason: Reason, expression text: String, _ placeholder: Range<Int>, proof: ValueProof? = nil
  ) {
    self.reason = reason
    self.proof = proof
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
    /// Inside `${…}`; evaluated if it is an index, an offset or the like.
    case expansion(isEvaluated: Bool)
    case translated
    case afterBackslash
    case afterDollar
    case descriptor

    /// An array where one word is expected.
    case list

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
    case .programText, .scriptText, .runArgument, .specialVariable, .evaluatedLater: true
    case .evaluatedArgument(let name): Interpreter.named(name)?.isShell == true
    default: false
    }
  }
}

extension ShellQuotingError {
  /// The suggested remedy if no shell reads the command line.
  package var helpWithoutShell: String {
    switch reason {
    case .evaluatedArgument, .evaluatedLater: help
    default:
      withProof("put it in \"env\" and read the variable there, or pass it as a separate argument")
    }
  }

  /// The problem and what was expected.
  package var message: String { "\(shown) \(reason.sentence)" }

  /// The suggested remedy.
  package var help: String {
    let remedy =
      switch reason.remedy {
      case .variable(let use): "add \(entry) and \(use)"
      case .validation(let use):
        "\"$VALUE\" may be evaluated too: first restrict it with a case statement; then add "
          + "\(entry) and \(use)"
      case .text(let text): text
      case .around(let before, let after): before + shown + after
      }
    return withProof(remedy)
  }

  /// A remedy, and the declaration that would allow the value.
  private func withProof(_ remedy: String) -> String {
    proof.map { "\($0.help); else \(remedy)" } ?? remedy
  }

  /// The expression on one line, shortened to fit a message.
  private var shown: String {
    shortened(expression.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  private var entry: String { "\"env\": { \"VALUE\": \"\(shown)\" }" }

  /// The advice; the expression is filled in.
  fileprivate enum Remedy {
    /// A variable of the step's environment, and how to use it.
    case variable(String)
    /// A variable too, but where even a quoted one would be evaluated.
    case validation(String)
    case text(String)
    case around(String, String)
  }
}

extension ShellQuotingError.Reason {
  fileprivate var sentence: String {
    switch self {
    case .unknownShell(let program):
      "is in a script for \(quoted(program)), whose quoting rules are not known"
    case .unfollowable(let construct, let line):
      "is in a part of the script that cannot be parsed: line \(line): \(construct.sentence)"
    case .quotedHereDocument:
      "is in a here-document with a quoted delimiter, where nothing is expanded"
    case .hereDocumentDelimiter: "is in the delimiter of a here-document"
    case .backquotes: "is inside backquotes, where quoting works differently"
    case .expansion(isEvaluated: true): "is inside ${…}, where it may be evaluated"
    case .expansion(isEvaluated: false): "is inside ${…}"
    case .translated: "is inside $\"…\", which is translated before it is expanded"
    case .afterBackslash: "directly follows a backslash, which would escape its quotes"
    case .afterDollar: "directly follows a $, which would combine with its quotes"
    case .descriptor: "is used as a descriptor number"
    case .list: "is an array, and only one word is possible here"
    case .arithmetic: "is in an arithmetic expression, where \(Self.example) runs the command"
    case .elementIndex: "is in a subscript, where \(Self.example) runs the command"
    case .condition(let operation?):
      "is an operand of \(quoted(operation)), where \(Self.example) may run the command"
    case .condition(nil): "is in a test whose operator is computed"
    case .longTest: "is in a compound test, where it may be read as an operator"
    case .evaluatedArgument(let command): "is an argument of \"\(command)\", which may evaluate it"
    case .evaluatedLater(ValueFlow.positional):
      "becomes a positional parameter, which the script evaluates"
    case .evaluatedLater(ValueFlow.environment):
      "is in an environment variable, which \"make\" expands"
    case .evaluatedLater(ValueFlow.descriptors): "is behind a descriptor that a command runs"
    case .evaluatedLater(let name) where name.hasSuffix("()"):
      "is in \(quoted(name)), whose output the script evaluates"
    case .evaluatedLater(let name):
      "reaches the variable \"\(name)\", which the script evaluates"
    case .attributes(let name):
      "is assigned to \"\(name)\" in a script that sets variable attributes, which may evaluate it"
    case .commandWord: "is used as the name of a command"
    case .unknownCommand: "is an argument of a command whose name is computed"
    case .assignmentName: "is used as the name of a variable"
    case .functionName: "is used as the name of a function"
    case .loopName: "is used as the name of a loop variable"
    case .specialVariable(let name):
      "becomes the value of \"\(name)\", which may run or evaluate it"
    case .programText(let program): "would be interpreted by \"\(program)\""
    case .programFile(let program): "is used as the program that \"\(program)\" runs"
    case .programInput: "is part of a program that a command reads"
    case .scriptText(let program): "is in text that \"\(program)\" passes to a shell"
    case .runArgument(let program): "would be run by \"\(program)\""
    case .optionOf(let program):
      "may be read as an option of \"\(program)\", which can run programs"
    case .format: "is in the format of \"printf\", where % and \\ have a meaning"
    }
  }

  private static let example = "a value such as a[$(command)]"

  fileprivate var remedy: ShellQuotingError.Remedy {
    switch self {
    case .unknownShell: .variable("read VALUE from the environment there")
    case .unfollowable: .validation("use \"$VALUE\" here")
    case .quotedHereDocument:
      .text("write the delimiter without quotes, and \\$ for each literal $")
    case .hereDocumentDelimiter: .text("write the delimiter literally")
    case .backquotes: .text("write $(…) instead of the backquotes")
    case .expansion:
      .around(
        "set a variable first, value=", ", and use $value here, but not as an index or offset")
    case .translated: .text("remove the $ before the quote")
    case .afterBackslash: .text("remove the backslash: values need no escaping")
    case .afterDollar: .text("write \\$ for a dollar sign")
    case .descriptor: .text("write the number literally")
    case .list:
      .text(
        "write it as an argument, outside of quotes and with blanks around it: each element becomes an argument;"
          + " or make it one text by join(…, ' ') or toJSON(…)")
    case .arithmetic: .validation("use $VALUE here")
    case .condition(let operation?) where TestOperators.ofNumbers.contains(operation):
      .text("compare with [ a \(operation) b ], which only accepts numbers (except in zsh)")
    case .condition: .text("write the operator and the variable names literally")
    case .longTest: .text("split it into several tests, as in [ a = b ] && [ c = d ]")
    case .evaluatedArgument(let command): Self.remedy(ofArgumentOf: command)
    case .evaluatedLater(ValueFlow.environment): Self.remedy(ofTextFor: "make")
    case .elementIndex, .evaluatedLater: .validation("use \"$VALUE\" here")
    case .attributes: .text("remove the attributes, or move that part into a separate step")
    case .commandWord:
      .text("write \"run\" as an array, or choose the command with a case statement")
    case .unknownCommand: .text("spell out the command name")
    case .assignmentName, .functionName, .loopName: .text("write the name literally")
    case .specialVariable: .text("write the value literally, or choose it with a case statement")
    case .programText("sed"): .variable("use awk, which reads it as ENVIRON[\"VALUE\"]")
    case .programText(let program): Self.remedy(ofTextFor: program)
    case .programFile: .text("write the file name literally, or choose it with a case statement")
    case .programInput: .variable("let that program read VALUE from its environment")
    case .scriptText("ssh"):
      .around("pass it on standard input: printf '%s' ", " | ssh host 'cat >file'")
    case .scriptText: .variable("use \"$VALUE\" in that text, which is in single quotes")
    case .runArgument("perl"): .around("redirect its standard input: <", "")
    case .runArgument: .text("write that argument literally, or choose it with a case statement")
    case .optionOf: .text("put -- before it, so that it cannot be an option")
    case .format: .around("write printf '%s' ", "")
    }
  }

  private static func remedy(ofArgumentOf command: String) -> ShellQuotingError.Remedy {
    switch command {
    case "set": .text("put -- before it")
    case "declare", "typeset", "local", "readonly", "export":
      .around("assign it by itself first: name=", "")
    case "unset", "read", "mapfile", "readarray", "getopts", "printf -v":
      .text("write the variable name literally")
    default: .validation("use \"$VALUE\" here")
    }
  }

  private static func remedy(ofTextFor program: String) -> ShellQuotingError.Remedy {
    let name = program.prefix { !$0.isNumber }
    if name.hasSuffix("make") {
      return .text("write it to a file, and let the recipe read that: make expands all variables")
    }
    guard let reading = readings[String(name)] else {
      return .variable("let \"\(program)\" read VALUE from its environment")
    }
    return .variable("read it there as \(reading)")
  }

  /// The expression that reads an environment variable in each language.
  private static let readings: [String: String] = [
    "sh": "\"$VALUE\", in text between single quotes",
    "bash": "\"$VALUE\", in text between single quotes",
    "dash": "\"$VALUE\", in text between single quotes",
    "zsh": "\"$VALUE\", in text between single quotes",
    "python": "os.environ[\"VALUE\"]", "perl": "$ENV{VALUE}", "ruby": "ENV[\"VALUE\"]",
    "node": "process.env.VALUE", "php": "getenv(\"VALUE\")", "lua": "os.getenv(\"VALUE\")",
    "awk": "ENVIRON[\"VALUE\"]", "jq": "env.VALUE",
  ]
}

extension ShellQuotingError.Construct {
  var sentence: String {
    switch self {
    case .syntax("the end"): "it ends unexpectedly"
    case .syntax(let text): "shells parse \(quoted(text)) differently"
    case .changesReading(let command): "\(quoted(command)) may change how the rest is parsed"
    case .unbalanced(let opening): "\(quoted(opening)) is not closed"
    case .controlCharacter: "there is a control character"
    case .tooDeep: "more than \(ScriptReading.depthLimit) commands and expansions are nested"
    }
  }
}

/// The point at which the lexer stops: the shell might read the rest in a different way.
struct UnsupportedSyntaxError: Error, Hashable {
  var construct: ShellQuotingError.Construct
  var offset: Int
}
