import WeftDiagnostics

extension ShellQuotingError {
  /// The problem and what was expected.
  package var message: String { "\(shown) \(reason.sentence)" }

  /// The suggested remedy.
  package var help: String {
    switch reason.cure {
    case .variable(let use): "add \(entry) and \(use)"
    case .validation(let use):
      "\"$VALUE\" would be evaluated too: make sure first that the value is harmless, by the \"pattern\" "
        + "of its input or a case statement; then add \(entry) and \(use)"
    case .text(let text): text
    case .around(let before, let after): before + shown + after
    }
  }

  /// The expression on one line, shortened to fit a message.
  private var shown: String {
    shortened(expression.split(whereSeparator: \.isNewline).joined(separator: " "))
  }

  private var entry: String { "\"env\": { \"VALUE\": \"\(shown)\" }" }

  /// The advice; the expression is filled in.
  fileprivate enum Cure {
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
      "stands in a script for \(quoted(program)), whose quoting is not known"
    case .unfollowable(let construct, let line):
      "stands where the script cannot be followed: in line \(line), \(construct.sentence)"
    case .quotedHereDocument:
      "stands in a here-document with a quoted delimiter, in which nothing is expanded"
    case .hereDocumentDelimiter: "stands in the delimiter of a here-document"
    case .backquotes: "stands between backquotes, in which quotes are read in another way"
    case .expansion: "stands inside of ${…}"
    case .translated: "stands in $\"…\", which is translated before it is expanded"
    case .afterBackslash: "stands directly behind a backslash, which would escape its quotes"
    case .afterDollar: "stands directly behind a $, which would join with its quotes"
    case .descriptor: "stands where the number of a descriptor is expected"
    case .arithmetic: "stands in arithmetic, where \(Self.example) runs the command"
    case .elementIndex: "stands in a subscript, where \(Self.example) runs the command"
    case .condition(let operation?):
      "is an operand of \(quoted(operation)), for which \(Self.example) may run the command"
    case .condition(nil): "stands in a test whose operator is not written out"
    case .longTest: "stands in a test joined of several, where it may be taken for an operator"
    case .evaluatedArgument(let command): "is an argument of \"\(command)\", which may evaluate it"
    case .evaluatedLater(ValueFlow.positional): "becomes a parameter, which the script evaluates"
    case .evaluatedLater(let name):
      "comes to be in the variable \"\(name)\", which the script evaluates"
    case .attributes(let name):
      "is assigned to \"\(name)\" in a script that gives variables attributes, which may evaluate it"
    case .commandWord: "chooses the command that runs"
    case .unknownCommand: "is an argument of a command whose name is computed"
    case .assignmentName: "chooses the variable that is set"
    case .functionName: "is the name of a function"
    case .loopName: "is the name of a loop's variable"
    case .specialVariable(let name):
      "becomes the value of \"\(name)\", which may run or evaluate it"
    case .programText(let program): "would be interpreted by \"\(program)\""
    case .programFile(let program): "chooses the program that \"\(program)\" runs"
    case .programInput: "is part of what a command reads as its program"
    case .scriptText(let program): "stands in text that \"\(program)\" gives to a shell"
    case .runArgument(let program): "would be run by \"\(program)\""
    case .optionOf(let program):
      "may be read as an option of \"\(program)\", which can run programs"
    case .format: "stands in the format of \"printf\", which gives % and \\ a meaning"
    }
  }

  private static let example = "a value such as a[$(command)]"

  fileprivate var cure: ShellQuotingError.Cure {
    switch self {
    case .unknownShell: .variable("read VALUE from the environment there")
    case .unfollowable: .variable("use \"$VALUE\" here")
    case .quotedHereDocument:
      .text("write the delimiter without quotes, and \\$ for each $ that is to stay")
    case .hereDocumentDelimiter: .text("write the delimiter out")
    case .backquotes: .text("write $(…) instead of the backquotes")
    case .expansion:
      .around(
        "set a variable first, value=", ", and use $value here, but not as an index or offset")
    case .translated: .text("leave out the $ before the quote")
    case .afterBackslash: .text("leave out the backslash: a value needs no escaping")
    case .afterDollar: .text("write \\$ for a dollar sign")
    case .descriptor: .text("write the number out")
    case .arithmetic: .validation("use $VALUE here")
    case .condition(let operation?) where TestOperators.ofNumbers.contains(operation):
      .text("compare with [ a \(operation) b ], which, but for zsh, only takes numbers")
    case .condition: .text("write the operator and the names of variables out")
    case .longTest: .text("make several tests of it, as in [ a = b ] && [ c = d ]")
    case .evaluatedArgument(let command): Self.cure(ofArgumentOf: command)
    case .elementIndex, .evaluatedLater: .validation("use \"$VALUE\" here")
    case .attributes: .text("leave out the attributes, or make a step of its own for that part")
    case .commandWord:
      .text("write \"run\" as an array, or choose the command by a case statement")
    case .unknownCommand: .text("spell out the command name")
    case .assignmentName, .functionName, .loopName: .text("write the name out")
    case .specialVariable: .text("write the value out, or choose it by a case statement")
    case .programText("sed"): .variable("use awk, which reads it as ENVIRON[\"VALUE\"]")
    case .programText(let program): Self.cure(ofTextFor: program)
    case .programFile: .text("write the name of the file out, or choose it by a case statement")
    case .programInput: .variable("let that program read VALUE from its environment")
    case .scriptText("ssh"):
      .around("write it into the command's input: printf '%s' ", " | ssh host 'cat >file'")
    case .scriptText: .variable("use \"$VALUE\" in that text, which is in single quotes")
    case .runArgument:
      .text(
        "write that argument out, or choose it by a case statement or by the \"enum\" of the input")
    case .optionOf: .text("put -- before it, so that it cannot be an option")
    case .format: .around("write printf '%s' ", "")
    }
  }

  private static func cure(ofArgumentOf command: String) -> ShellQuotingError.Cure {
    switch command {
    case "set": .text("put -- before it")
    case "declare", "typeset", "local", "readonly", "export":
      .around("assign it by itself first: name=", "")
    case "unset", "read", "mapfile", "readarray", "getopts", "printf -v":
      .text("write the name of the variable out")
    default: .validation("use \"$VALUE\" here")
    }
  }

  private static func cure(ofTextFor program: String) -> ShellQuotingError.Cure {
    let name = program.prefix { !$0.isNumber }
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
    "awk": "ENVIRON[\"VALUE\"]", "jq": "env.VALUE", "make": "\"$$VALUE\" in the recipe",
  ]
}

extension ShellQuotingError.Construct {
  fileprivate var sentence: String {
    switch self {
    case .syntax("the end"): "it ends too early"
    case .syntax(let text): "shells differ in how they read \(quoted(text))"
    case .changesReading(let command): "\(quoted(command)) may change how the rest is read"
    case .unbalanced(let opening): "\(quoted(opening)) is not closed"
    case .controlCharacter: "there is a control character"
    case .tooDeep: "more than \(ScriptReading.depthLimit) commands and expansions are nested"
    }
  }
}
