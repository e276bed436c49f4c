import WeftDefinition
import WeftDiagnostics

/// One thing that is wrong with what a step has written into the file `$WEFT_OUTPUT`.
package struct OutputFault: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case notUTF8
    case nul
    case unreadableLine
    case emptyName
    case emptyDelimiter(name: String)
    case unclosed(name: String, delimiter: String)
    case notJSON(TextFault, isOpen: Bool)
    case notAnObject
    case undeclared(String, nearest: String?)
    case repeated(String, firstLine: Int)
    case missing(String)
    case unfit(message: String, help: String?)
  }

  let kind: Kind
  /// Counts from 1; `nil` where it is about no line.
  package let line: Int?
  /// Whether what stands in the line may be part of a secret.
  let isSecret: Bool

  init(_ kind: Kind, line: Int? = nil, isSecret: Bool = false) {
    self.kind = kind
    self.line = line
    self.isSecret = isSecret
  }

  /// What is wrong, and where: lower case, no full stop.
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

  /// Whether one of the outputs that are missing may be meant.
  func mayHide(_ name: String) -> Bool {
    switch kind {
    case .notUTF8, .nul, .unreadableLine, .notJSON, .notAnObject: true
    case .undeclared(_, let nearest): nearest == name
    case .emptyName, .emptyDelimiter, .unclosed, .repeated, .missing, .unfit: false
    }
  }

  /// What to do about it.
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

/// What a step has written as its outputs cannot be used; never empty.
package struct OutputsRejected: Error, Sendable, Hashable {
  /// By line; those of missing outputs last.
  package let faults: [OutputFault]

  /// All of it in a sentence; of many faults the first three.
  package var message: String {
    let told = faults.prefix(3).map(\.message).joined(separator: "; ")
    return faults.count > 3 ? told + "; and \(faults.count - 3) more" : told
  }

  /// The cure for the first that has one.
  package var help: String? { faults.lazy.compactMap(\.help).first }
}
