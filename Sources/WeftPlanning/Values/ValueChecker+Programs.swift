import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// Command lines without a shell in which a program reads an argument as code: `["sh", "-c", "…"]`.
extension ValueChecker {
  /// Reads the command line as a script would have it, each argument between quotes.
  mutating func checkProgram(ofStep index: Int, _ texts: ArraySlice<PlannedText>) {
    guard case .program(let arguments)? = outline.steps[index].command?.invocation,
      let program = arguments.first, !program.hasExpression,
      texts.contains(where: \.site.isArgument), ShellRejection.mayReadCode(program: program)
    else { return }
    var line = ""
    var holes: [Range<Int>] = []
    var places: [(text: PlannedText, range: SourceRange)] = []
    for (position, argument) in arguments.enumerated() {
      line += position == 0 ? "'" : " '"
      let text = texts.first { $0.site == .argument(position) }
      for segment in text?.template.segments ?? [] {
        switch segment.content {
        case .text(let part): line += part.insideSingleQuotes
        case .expression(let expression):
          let start = line.utf8.count
          line += "${{ \(expression.text) }}"
          holes.append(start..<line.utf8.count)
          places.append((text!, segment.range))
        }
      }
      if text == nil { line += argument.insideSingleQuotes }
      line += "'"
    }
    for (hole, rejection) in QuotedScript(line, holes: holes, dialect: .posix).rejections
    where rejection.holdsWithoutShell {
      tell(
        .unsafeInScript(
          message: rejection.message,
          help: "set a variable in \"env\" to it and read that in the text,"
            + " or hand it over behind the text as an argument of its own"),
        places[hole].text, places[hole].range)
    }
  }
}

extension TextSite {
  fileprivate var isArgument: Bool {
    if case .argument = self { true } else { false }
  }
}

extension String {
  fileprivate var insideSingleQuotes: String {
    utf8.contains(UInt8(ascii: "'"))
      ? split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") : self
  }
}
