import WeftShell

/// Script text with holes, each of which stands for one of some values.
struct Template {
  enum Piece {
    case text(String)
    case placeholder(Int)
  }
  var pieces: [Piece] = []

  init(_ text: String = "") { pieces = [.text(text)] }

  init(placeholder value: Int) { pieces = [.placeholder(value)] }

  static func + (first: Template, second: Template) -> Template {
    var sum = first
    sum.pieces += second.pieces
    return sum
  }

  static func + (first: Template, second: String) -> Template { first + Template(second) }
  static func + (first: String, second: Template) -> Template { Template(first) + second }
  static func += (sum: inout Template, part: Template) { sum = sum + part }
  static func += (sum: inout Template, part: String) { sum = sum + part }

  var hasHoles: Bool { pieces.contains { if case .placeholder = $0 { true } else { false } } }

  /// The text without the holes.
  var text: String {
    pieces.map { if case .text(let text) = $0 { text } else { "" } }.joined()
  }

  /// The script with a double-quoted variable for each value.
  var quoted: String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .placeholder(let value): "\"$WEFT_VALUE_\(value)\""
      }
    }.joined()
  }

  /// The script, and the value that each of its expressions stands for.
  ///
  /// - Parameter known: The knowledge about each value; empty if there is none.
  func script(
    _ dialect: ShellDialect, known: [ValueText] = []
  ) -> (script: QuotedScript, values: [Int]) {
    var text = ""
    var placeholders: [Range<Int>] = []
    var values: [Int] = []
    for piece in pieces {
      switch piece {
      case .text(let part): text += part
      case .placeholder(let value):
        let expression = "${{ v[\(value)] || '}' }}"
        placeholders.append(text.utf8.count..<text.utf8.count + expression.utf8.count)
        text += expression
        values.append(value)
      }
    }
    let script = QuotedScript(
      text, placeholders: placeholders, dialect: dialect,
      values: known.isEmpty ? [] : values.map { known[$0] })
    return (script, values)
  }
}

/// A word, or more text, and the bytes that it expands to.
struct Meaning {
  var template: Template
  var value: [UInt8]

  init(_ template: Template, _ value: [UInt8]) {
    self.template = template
    self.value = value
  }

  init(_ text: String, _ value: String) {
    self.init(Template(text), Array(value.utf8))
  }

  static func + (first: Meaning, second: Meaning) -> Meaning {
    Meaning(first.template + second.template, first.value + second.value)
  }

  /// The value as a command substitution passes it on.
  var withoutLastNewlines: [UInt8] {
    Array(value.reversed().drop { $0 == 0x0A }.reversed())
  }
}

/// Commands on one line, the bodies of their here-documents, and what they print.
struct Statement {
  var line: Template
  var bodies = Template()
  /// The arguments of each call of `p`, in order.
  var printed: [[[UInt8]]] = []

  init(_ line: Template, bodies: Template = Template(), printed: [[[UInt8]]] = []) {
    self.line = line
    self.bodies = bodies
    self.printed = printed
  }

  /// The statement with a newline and the bodies of its here-documents.
  var closed: Template { line + "\n" + bodies }

  /// `self`, the text between, and then `next`, on one line if possible: shells disagree on where a pending
  /// here-document begins if the command continues.
  func joined(_ separator: String, _ next: Statement) -> Statement {
    let isOneLine = !bodies.hasText || !next.line.hasNewline
    return Statement(
      isOneLine ? line + separator + next.line : closed + next.line,
      bodies: isOneLine ? bodies + next.bodies : next.bodies, printed: printed + next.printed)
  }
}

extension Template {
  fileprivate var hasText: Bool {
    !pieces.allSatisfy { if case .text("") = $0 { true } else { false } }
  }

  fileprivate var hasNewline: Bool {
    pieces.contains { if case .text(let text) = $0 { text.contains("\n") } else { false } }
  }
}
