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

  package init(_ names: [String], conjunction: String = "or") {
    self.names = names
    self.conjunction = conjunction
  }

  package var description: String { listed(names.map(quoted), conjunction: conjunction) }
}

/// `a, b or c`; only the first of many.
package func listed(_ names: [String], conjunction: String) -> String {
  let most = 12
  guard names.count <= most else {
    return names.prefix(most).joined(separator: ", ") + " \(conjunction) \(names.count - most) more"
  }
  guard let last = names.last, names.count > 1 else { return names.first ?? "nothing" }
  return names.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}

/// `a, b and 3 more`: at most eight names.
package func shortList(_ names: [String]) -> String {
  shortList(names) { $0 }
}

/// The names of some items, as ``shortList(_:)``.
@inlinable
package func shortList<Item>(_ items: [Item], naming name: (Item) -> String) -> String {
  let most = 8
  var text = ""
  for (index, item) in items.prefix(most).enumerated() {
    if index > 0 { text += ", " }
    text += name(item)
  }
  if items.count > most { text += " and \(items.count - most) more" }
  return text
}
