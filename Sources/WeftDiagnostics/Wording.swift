/// Wording that diagnostics share.

/// The text in double quotes, with quotes escaped as in JSON, and shortened to fit a message.
package func quoted(_ text: String) -> String {
  var result = "\""
  for character in shortened(text) {
    switch character {
    case "\"": result += "\\\""
    case "\\": result += "\\\\"
    case "\n": result += "\\n"
    case "\t": result += "\\t"
    default: result.append(character)
    }
  }
  return result + "\""
}

/// The first 60 scalars, with an ellipsis if some were dropped.
package func shortened(_ text: String) -> String {
  let start = text.unicodeScalars.prefix(60)
  return start.endIndex == text.endIndex ? text : String(start) + "…"
}

/// The remedy for a misspelled name: `did you mean "lint"?`.
package struct Suggestion: CustomStringConvertible {
  private let name: String

  package init(_ name: String) { self.name = name }

  package var description: String { "did you mean \"\(name)\"?" }
}

extension String? {
  /// The remedy for a misspelled name, if this is the name that was probably meant.
  package var asSuggestion: String? { map { Suggestion($0).description } }
}

/// A number with its noun: `1 step`, `3 steps`.
package struct Count: CustomStringConvertible {
  private let number: Int
  private let noun: String

  package init(_ number: Int, _ noun: String) {
    self.number = number
    self.noun = noun
  }

  package var description: String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

/// Names in double quotes, joined for a sentence: `"a", "b" or "c"`.
package struct QuotedList: CustomStringConvertible {
  private let names: [String]
  private let conjunction: String

  package init(_ names: some Sequence<String>, conjunction: String = "or") {
    self.names = Array(names)
    self.conjunction = conjunction
  }

  package var description: String {
    let quoted = names.map { "\"\($0)\"" }
    guard quoted.count > 1, let last = quoted.last else { return quoted.joined() }
    return "\(quoted.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
  }
}
