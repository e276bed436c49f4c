import WeftShell

/// Makes scripts of all the constructs in which a value is allowed, with the output they must have.
///
/// The scripts call two functions: `p`, which writes its arguments, and `pin`, which writes its standard input as if
/// that were one argument.
struct ScriptGenerator<Random: RandomNumberGenerator> {
  var random: Random
  let dialect: ShellDialect
  let values: [String]
  private var names = 0
  /// The number of open here-documents.
  var documents = 0

  init(_ random: Random, dialect: ShellDialect, values: [String]) {
    self.random = random
    self.dialect = dialect
    self.values = values
  }

  var isBash: Bool { dialect == .bash }
  var isZsh: Bool { dialect == .zsh }

  mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  mutating func pick(_ texts: [String]) -> String { texts.randomElement(using: &random)! }
  mutating func chance(_ one: Int) -> Bool { number(0..<one) == 0 }

  mutating func newName() -> String {
    names += 1
    return pick(["x", "name", "_y"]) + String(names)
  }

  /// A whole script.
  mutating func script() -> Statement {
    var script = Statement(Template())
    for _ in 0..<number(1..<4) {
      let statement = statement(depth: 3)
      script.line += statement.closed
      script.printed += statement.printed
    }
    return script
  }

  mutating func placeholder() -> (Template, [UInt8]) {
    let value = number(0..<values.count)
    return (Template(placeholder: value), Array(values[value].utf8))
  }

  mutating func statement(depth: Int) -> Statement {
    guard depth > 0 else { return call() }
    switch number(0..<20) {
    case 0..<5: return call()
    case 5: return input()
    case 6: return branch(depth)
    case 7: return loop(depth)
    case 8: return choice(depth)
    case 9: return function(depth)
    case 10: return group(depth)
    case 11: return assignment()
    case 12:
      return statement(depth: depth - 1).joined(
        pick(["; ", " && ", ";"]), statement(depth: depth - 1))
    case 13: return pipeline()
    case 14: return external()
    case 15: return commented(depth)
    case 16: return condition(depth)
    case 17 where isBash: return array()
    case 18: return noise()
    default: return call()
    }
  }

  mutating func body(_ depth: Int) -> Statement {
    var body = Statement(Template(), printed: [])
    for _ in 0..<number(1..<3) {
      let statement = statement(depth: depth - 1)
      body.line += statement.closed
      body.printed += statement.printed
    }
    return body
  }

  private mutating func call() -> Statement {
    var line = Template("p")
    var arguments: [[UInt8]] = []
    for _ in 0..<number(1..<4) {
      let word = word()
      line += pick([" ", "  ", "\t", " \\\n "]) + word.template
      arguments.append(word.value)
    }
    return Statement(line + pick(["", "", " ", " 2>/dev/null"]), printed: [arguments])
  }

  /// Values on the standard input of a command: here-documents, and bash's other forms.
  private mutating func input() -> Statement {
    if isBash, chance(3) {
      let word = word()
      return chance(2)
        ? Statement("pin <<< " + word.template, printed: [[word.value + [0x0A]]])
        : Statement("pin < <(printf '%s' " + word.template + ")", printed: [[word.value]])
    }
    let (operation, body, value) = hereDocument()
    let statement = Statement("pin " + Template(operation), bodies: body, printed: [[value]])
    return chance(4) ? statement.joined("; ", input()) : statement
  }

  /// An operator with its delimiter, a body, and the value of that body.
  mutating func hereDocument() -> (operation: String, body: Template, value: [UInt8]) {
    documents += 1
    defer { documents -= 1 }
    names += 1
    let delimiter = pick(["E", "EOF", "_end", "E1", "+.x", "a b"]) + String(names)
    let isQuoted = delimiter.contains(" ") || chance(5)
    let strips = chance(3)
    let operation =
      (strips ? "<<-" : "<<") + pick(["", " "])
      + (isQuoted ? pick(["'\(delimiter)'", "\"\(delimiter)\""]) : delimiter)
    var lines = Meaning("", "")
    for _ in 0..<number(0..<4) {
      if strips, chance(2) { lines.template += "\t" }
      lines = lines + (isQuoted ? quotedLine() : expandedLine()) + Meaning("\n", "\n")
    }
    return (operation, lines.template + ((strips ? "\t" : "") + delimiter + "\n"), lines.value)
  }

  private mutating func quotedLine() -> Meaning {
    let text =
      "x"
      + pick([
        "'", "\"", "`", "$(", "${", documents == 1 ? "\\" : "\\a", "# it's", ")", "esac", "$((",
        "<<E",
      ])
    return Meaning(text, text)
  }

  private mutating func expandedLine() -> Meaning {
    var line = Meaning("x", "x")
    for _ in 0..<number(0..<5) {
      switch number(0..<7) {
      case 0..<3:
        let (template, value) = placeholder()
        line = line + Meaning(template, value)
      case 3: line = line + substitution()
      case 4:
        let escaped = pick(["$", "`", documents == 1 ? "\\" : "$"])
        line = line + Meaning("\\" + escaped, escaped)
      case 5: line = line + expansion()
      default:
        let text = pick(["'", "\"", "it's", "#", ")", ";", "(", "}", "<<E", " ", "*"])
        line = line + Meaning(text, text)
      }
    }
    return line
  }

  private mutating func branch(_ depth: Int) -> Statement {
    let (test, isTrue) = test()
    let (then, other) = (body(depth), body(depth))
    let line =
      "if " + test + pick(["; then ", "\nthen\n", " ; then\n"]) + then.line
      + (chance(3) ? "elif false; then :; else " : "else\n") + other.line + "fi"
    return Statement(line, printed: isTrue ? then.printed : other.printed)
  }

  /// A test, and whether it holds.
  private mutating func test() -> (Template, Bool) {
    let (first, second) = (word(), word())
    let second2 = chance(2) ? first : second
    switch number(0..<5) {
    case 0:
      return ("[ " + first.template + " = " + second2.template + " ]", first.value == second2.value)
    case 1:
      return ("test " + first.template + " != " + second2.template, first.value != second2.value)
    case 2: return ("! [ -n " + first.template + " ]", first.value.isEmpty)
    case 3 where isBash || isZsh:
      // A word such as -x would be an operator there; a quoted one is not.
      let mark = first.template.text.hasPrefix("-") ? "''" : ""
      return (
        "[[ " + mark + first.template + " == " + second2.template + " && -n " + second.template
          + " ]]",
        first.value == second2.value && !second.value.isEmpty
      )
    default: return ("[ -z " + first.template + " ]", first.value.isEmpty)
    }
  }

  private mutating func condition(_ depth: Int) -> Statement {
    let (test, isTrue) = test()
    let next = statement(depth: depth - 1)
    let other = call()
    return isTrue
      ? Statement(
        "{ " + test + " && " + next.line + " || :; }", bodies: next.bodies, printed: next.printed)
      : Statement(test + " || " + other.line, bodies: other.bodies, printed: other.printed)
  }

  private mutating func loop(_ depth: Int) -> Statement {
    let name = newName()
    var line = Template("for \(name) in")
    var printed: [[[UInt8]]] = []
    let inner = statement(depth: depth - 1)
    for _ in 0..<number(1..<4) {
      let word = word()
      line += " " + word.template
      printed.append([word.value])
      printed += inner.printed
    }
    line += pick(["; do ", "\ndo\n"]) + Template("p \"$\(name)\"\n") + inner.closed + "done"
    return Statement(line, printed: printed)
  }

  private mutating func choice(_ depth: Int) -> Statement {
    let (subject, pattern) = (word(), word())
    let matching = chance(2) ? subject : pattern
    let (first, second) = (body(depth), body(depth))
    // zsh drops a blank at the end of a pattern in parentheses, even one after a backslash.
    let endsInBlank = ["\\ ", "\\\t"].contains { matching.template.text.hasSuffix($0) }
    let opening = isZsh && endsInBlank ? "" : pick(["(", ""])
    let line =
      "case " + subject.template + pick([" in\n", " in "]) + Template(opening) + "zz|"
      + matching.template + ")\n" + first.line + ";;\n*) " + second.line
      + pick([";;\nesac", "\nesac"])
    let isTaken = subject.value == matching.value || subject.value == Array("zz".utf8)
    return Statement(line, printed: isTaken ? first.printed : second.printed)
  }

  private mutating func function(_ depth: Int) -> Statement {
    let name = newName()
    if chance(3) {
      let word = word()
      let line = Template("\(name)() { printf '%s' ") + word.template + "; }\n"
      return Statement(
        line + pick(["\(name) | pin", "\(name) | cat | pin"]), printed: [[word.value]])
    }
    let inner = body(depth)
    let argument = word()
    let line = Template("\(name)() {\np \"$1\"\n") + inner.line + "}\n\(name) " + argument.template
    return Statement(line, printed: [[argument.value]] + inner.printed)
  }

  private mutating func group(_ depth: Int) -> Statement {
    let inner = body(depth)
    switch number(0..<3) {
    case 0: return Statement("{ " + inner.line + "}", printed: inner.printed)
    case 1: return Statement("( " + inner.line + ")", printed: inner.printed)
    default: return Statement("while :; do\n" + inner.line + "break\ndone", printed: inner.printed)
    }
  }

  private mutating func assignment() -> Statement {
    let (name, word) = (newName(), word())
    let line = Template(pick(["", "", "export "])) + "\(name)=" + word.template
    return Statement(line + "\np \"$\(name)\" \"${\(name)}\"", printed: [[word.value, word.value]])
  }

  private mutating func pipeline() -> Statement {
    let word = word()
    if chance(2) {
      let line =
        "printf '%s' " + word.template
        + pick([" | pin", " |\n cat | pin", " | { pin; }", " | ( pin )"])
      return Statement(line, printed: [[word.value]])
    }
    let (operation, body, value) = hereDocument()
    return Statement(Template("cat \(operation) | pin"), bodies: body, printed: [[value]])
  }

  /// A call of an external program, which gets the value through the kernel.
  private mutating func external() -> Statement {
    guard chance(8) else { return call() }
    let (first, second) = (word(), word())
    let script = "'printf \"%s\\0\" \"$#\" \"$@\" >&3'"
    if chance(2) {
      return Statement(
        "sh -c \(script) sh " + first.template + " " + second.template,
        printed: [[first.value, second.value]])
    }
    return Statement(
      "env A1=" + first.template + " sh -c 'printf \"%s\\0\" 1 \"$A1\" >&3'",
      printed: [[first.value]])
  }

  private mutating func commented(_ depth: Int) -> Statement {
    let next = statement(depth: depth - 1)
    let comment = "# it's " + placeholder().0 + pick([" `", " $(", " \"", " (", ""])
    let commented =
      chance(2) ? comment + "\n" + next.closed : next.line + " " + comment + "\n" + next.bodies
    return Statement(commented + ":", printed: next.printed)
  }

  private mutating func array() -> Statement {
    let name = newName()
    let (first, second) = (word(), word())
    return Statement(
      Template("\(name)=(") + first.template + pick([" ", "\n", " # c'\n"]) + second.template
        + ")\np \"${\(name)[@]}\"",
      printed: [[first.value, second.value]])
  }

  /// Text that the lexer must skip correctly.
  private mutating func noise() -> Statement {
    Statement(
      Template(
        pick([
          ": $((1 + (2 * 3)))", ": ${x:-a} \"${x:-}\" ${#F} ${F%x}", ": `echo \\`echo a\\``",
          ": \"$(echo \"a)\" # )\n)\"",
          "! false", ": 'a' \"b\" \\' \\\"", ": >/dev/null 2>&1", "F=fx", "true & wait",
          ": $(case a in (a) echo;; esac)", ": a#b $# $? $$",
        ])))
  }
}
