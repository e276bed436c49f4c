/// Words: pieces that may be joined into one argument.
extension ScriptGenerator {
  mutating func word() -> Meaning {
    var word = part()
    for _ in 0..<number(0..<3) { word = word + part() }
    return word
  }

  private mutating func part() -> Meaning {
    switch number(0..<12) {
    case 0..<3:
      let (template, value) = placeholder()
      return Meaning(template, value)
    case 3..<6: return doubleQuoted()
    case 6..<8: return singleQuoted()
    case 8:
      let escaped = pick(Array(" '\"\\$`;&|<>()*?[#~{}!").map(String.init))
      return Meaning("\\" + escaped, escaped)
    case 9 where isBash || isZsh: return dollarQuoted()
    case 10: return Meaning(pick(["${F}", "\"$F\"", "$F\"\""]), "fx")
    default:
      let text = pick(["a", "b1", ".", "/", "-x", "a=b", "%s", "@", "+", "ä", "if", "a,b"])
      return Meaning(text, text)
    }
  }

  /// A newline, except in a here-document: there it might follow a backslash, and continue a line in bash only.
  private var newline: String { documents == 0 ? "\n" : "n" }

  private mutating func doubleQuoted() -> Meaning {
    var inside = Meaning("", "")
    for _ in 0..<number(0..<4) {
      switch number(0..<7) {
      case 0..<3:
        let (template, value) = placeholder()
        inside = inside + Meaning(template, value)
      case 3:
        let escaped = pick(["\"", "$", "`", "\\"])
        inside = inside + Meaning("\\" + escaped, escaped)
      case 4: inside = inside + substitution()
      case 5: inside = inside + expansion()
      default:
        let text = pick([
          "'", "it's", "#", ")", "(", "}", " ", "*", newline, ";", "\\x", "!", "{a,b}", "~", "[x]",
          ":h",
        ])
        inside = inside + Meaning(text, text)
      }
    }
    return Meaning("\"" + inside.template + "\"", inside.value)
  }

  private mutating func singleQuoted() -> Meaning {
    var inside = Meaning("", "")
    for _ in 0..<number(0..<4) {
      if chance(2) {
        let (template, value) = placeholder()
        inside = inside + Meaning(template, value)
      } else {
        let text = pick([
          "\"", "\\", "`", "$(", "${", "#", newline, " ", "$", "\\\\", "a", "$x ", "!", "*",
        ])
        inside = inside + Meaning(text, text)
      }
    }
    return Meaning("'" + inside.template + "'", inside.value)
  }

  /// `$'…'`.
  private mutating func dollarQuoted() -> Meaning {
    var inside = Meaning("", "")
    for _ in 0..<number(0..<4) {
      let known = [
        ("\\'", "'"), ("\\n", "\n"), ("\\\\", "\\"), ("\\x41 ", "A "), ("\"", "\""), ("$(", "$("),
      ]
      let (text, value) = known.randomElement(using: &random)!
      inside = inside + Meaning(text, value)
      guard chance(2) else { continue }
      let (template, bytes) = placeholder()
      inside = inside + Meaning(template, bytes)
    }
    return Meaning("$'" + inside.template + "'", inside.value)
  }

  /// `$(…)` between double quotes or in a here-document: quotes start afresh inside it.
  mutating func substitution() -> Meaning {
    if chance(4) {
      let (operation, body, value) = hereDocument()
      let document = Meaning(Template("$(cat \(operation)\n") + body + ")", value)
      return Meaning(document.template, document.withoutLastNewlines)
    }
    let inner = chance(3) ? doubleQuoted() : word()
    let printing = Meaning(
      "$(printf '%s' " + inner.template + pick([")", " )", " # it's\n)", "; )"]), inner.value)
    return Meaning(printing.template, printing.withoutLastNewlines)
  }

  /// An expansion that does not involve values.
  mutating func expansion() -> Meaning {
    var meanings = [
      Meaning("${F}", "fx"), Meaning("${F:-a b}", "fx"),
      Meaning("$((1 + 2))", "3"),
      Meaning("`printf x`", "x"), Meaning("${#F}", "2"), Meaning("${F#f}", "x"),
      Meaning("${nothing-}", ""),
    ]
    if isBash || isZsh { meanings.append(Meaning("$[(1 + 1) * $[2]]", "4")) }
    return meanings.randomElement(using: &random)!
  }
}
