import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// Checks command lines without a shell in which a program reads an argument as code: `["sh", "-c", "…"]`.
extension ValueChecker {
  /// Reads the command line as a script with each argument in quotes.
  mutating func checkProgram(ofStep index: Int, _ texts: ArraySlice<PlannedText>) {
    guard case .program(let arguments)? = outline.steps[index].command?.invocation,
      let program = arguments.first, !program.hasExpression,
      texts.contains(where: \.site.isArgument)
    else { return }
    var line = ""
    var placeholders: [Range<Int>] = []
    var places: [(text: PlannedText, range: SourceRange, expression: String)] = []
    var values: [ValueText] = []
    for (position, argument) in arguments.enumerated() {
      line += position == 0 ? "'" : " '"
      let text = texts.first { $0.site == .argument(position) }
      for segment in text?.template.segments ?? [] {
        switch segment.content {
        case .text(let part): line += part.insideSingleQuotes
        case .expression(let expression):
          let start = line.utf8.count
          line += "${{ \(expression.text) }}"
          placeholders.append(start..<line.utf8.count)
          places.append((text!, segment.range, expression.text))
          values.append(textKnown(of: expression, in: text!, of: .step(index)))
        }
      }
      if text == nil { line += argument.insideSingleQuotes }
      line += "'"
    }
    let script = QuotedScript(line, placeholders: placeholders, dialect: .posix, values: values)
    for (placeholder, rejection) in script.rejections where rejection.holdsWithoutShell {
      report(
        .unsafeInScript(
          message: rejection.message,
          help: "put it in \"env\" and read the variable there, or pass it as a separate argument"),
        places[placeholder].text, places[placeholder].range)
    }
    for suspicion in script.suspicions {
      let (text, range, expression) = places[suspicion.placeholder]
      report(
        .mayBeRun(expression, program: suspicion.program, option: suspicion.option), text, range)
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
