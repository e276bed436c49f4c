import WeftDefinition
import WeftDiagnostics

/// A diagnostic about the content of a step's file `$WEFT_OUTPUT`.
package struct OutputFault: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case notUTF8
    case nul
    case unreadableLine
    case emptyName
    case emptyDelimiter(name: String)
    case unclosed(name: String, delimiter: String)
    case notJSON(TextError, isOpen: Bool)
    case notAnObject
    case undeclared(String, nearest: String?)
    case repeated(String, firstLine: Int)
    case missing(String)
    case unfit(message: String, help: String?)
  }

  let kind: Kind
  /// Counts from 1; `nil` if it is not about a line.
  package let line: Int?
  /// Whether the content of the line may be part of a secret.
  let isSecret: Bool

  init(_ kind: Kind, line: Int? = nil, isSecret: Bool = false) {
    self.kind = kind
    self.line = line
    self.isSecret = isSecret
  }

  /// The error and its location: lower case, no full stop.
  package var message: String {
    let subject = line.map { "line \($0) of $WEFT_OUTPUT" } ?? "$WEFT_OUTPUT"
    if case .notJSON(let fault, _) = kind {
      return fault.message(about: subject, isSecret: isSecret)
    }
    return subject + " " + complaint
  }

  private var complaint: String {
    switch kind {
    case .notJSON: "is not JSON"
    case .undeclared where isSecret: "sets what is not declared in the step's \"outputs\""
    case .unclosed where isSecret: "begins a value that no line ends"
    case .emptyDelimiter where isSecret: "gives no word that ends the value"
    case .notUTF8: "is not UTF-8"
    case .nul: "has a NUL character in it"
    case .unreadableLine: "is neither NAME=VALUE nor NAME<<END nor a JSON object"
    case .emptyName: "begins without a name"
    case .emptyDelimiter(let name): "gives no word that ends the value of \(quoted(name))"
    case .unclosed(let name, let delimiter):
      "begins the value of \(quoted(name)), and no line \(quoted(delimiter)) ends it"
    case .notAnObject: "is JSON, but not one object"
    case .undeclared(let name, _):
      "sets \(quoted(name)), which is not declared in the step's \"outputs\""
    case .repeated(let name, let first):
      first == line
        ? "sets the output \(quoted(name)) twice"
        : "sets the output \(quoted(name)), which line \(first) has set"
    case .missing(let name): "does not set the output \(quoted(name))"
    case .unfit(let message, _): "sets a value that does not fit: \(message)"
    }
  }

  /// Whether the missing output `name` may be explained by this fault.
  func mayHide(_ name: String) -> Bool {
    switch kind {
    case .notUTF8, .nul, .unreadableLine, .notJSON, .notAnObject: true
    case .undeclared(_, let nearest): nearest == name
    case .emptyName, .emptyDelimiter, .unclosed, .repeated, .missing, .unfit: false
    }
  }

  /// The suggested remedy.
  package var help: String? {
    switch kind {
    case .undeclared where isSecret: "values of several lines are safe as JSON only"
    case .notJSON(_, isOpen: true): "an object stands on one line: jq -c writes it so"
    case .notJSON(let fault, isOpen: false): fault.help(isSecret: isSecret)
    case .notAnObject: "write { \"NAME\": value } on one line"
    case .unreadableLine, .emptyName, .emptyDelimiter:
      "values of several lines are written as NAME<<END, their lines, END; or safely as JSON"
    case .unclosed:
      "end the value by a line with that word alone; whatever values hold, JSON is safe: "
        + "jq -cn --arg NAME \"$VALUE\" '{$NAME}' >> \"$WEFT_OUTPUT\""
    case .undeclared(let name, let nearest):
      nearest.map { "did you mean \"\($0)\" by \(quoted(name))?" }
        ?? "declare it: \"outputs\": { \(quoted(name)): { \"type\": \"string\" } }"
    case .missing(let name):
      "write it: echo \"\(name)=…\" >> \"$WEFT_OUTPUT\""
    case .unfit(_, let help): help
    case .notUTF8, .nul, .repeated: nil
    }
  }
}

/// The content of a step's output file cannot be used; never empty.
package struct OutputsError: Error, Sendable, Hashable {
  /// Ordered by line; those of missing outputs last.
  package let faults: [OutputFault]

  /// All faults in a sentence; only the first three if there are more.
  package var message: String {
    let reported = faults.prefix(3).map(\.message).joined(separator: "; ")
    return faults.count > 3 ? reported + "; and \(faults.count - 3) more" : reported
  }

  /// The remedy of the first fault that has one.
  package var help: String? { faults.lazy.compactMap(\.help).first }
}
