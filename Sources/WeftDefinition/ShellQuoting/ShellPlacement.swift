/// What becomes of one expression in a script.
package enum ShellPlacement: Sendable, Hashable {
  /// It is replaced by a reference to its variable.
  ///
  /// `mayBeOption`: it begins an argument of a program before any `--`, so that a value which begins with
  /// `-` would be read as an option by that program.
  case quoted(ShellQuoting, mayBeOption: Bool)
  case rejected(ShellRejection)
}

/// Where in the text an expression stands, and so how the reference to its variable is written.
package enum ShellQuoting: Sendable, Hashable {
  /// Outside of all quotes.
  case bare
  /// Inside of `"…"`.
  case doubleQuotes
  /// Inside of `'…'`.
  case singleQuotes
  /// Inside of `$'…'`.
  case dollarQuotes
  /// In the body of a here-document whose delimiter is not quoted.
  case hereDocument
  /// In a comment: the value is not needed.
  case comment

  /// The text that stands for the variable in that place.
  package func reference(to name: String) -> String {
    switch self {
    case .bare: "\"${\(name)}\""
    case .doubleQuotes, .hereDocument, .comment: "${\(name)}"
    case .singleQuotes: "'\"${\(name)}\"'"
    case .dollarQuotes: "'\"${\(name)}\"$'"
    }
  }
}
