/// The treatment of one expression in a script.
package enum ShellPlacement: Sendable, Hashable {
  /// It is replaced by a reference to its variable.
  ///
  /// `mayBeOption`: it begins an argument of a program before any `--`, so that the program would read a
  /// value that begins with `-` as an option.
  case quoted(ShellQuoting, mayBeOption: Bool)
  case rejected(ShellQuotingError)
}

/// The context of an expression, which determines how the reference to its variable is written.
package enum ShellQuoting: Sendable, Hashable {
  /// Outside all quotes.
  case bare
  /// Inside `"…"`.
  case doubleQuotes
  /// Inside `'…'`.
  case singleQuotes
  /// Inside `$'…'`.
  case dollarQuotes
  /// In the body of a here-document whose delimiter is not quoted.
  case hereDocument
  /// In a comment: the value is not needed.
  case comment

  /// The text that refers to the variable in this context.
  package func reference(to name: String) -> String {
    switch self {
    case .bare: "\"${\(name)}\""
    case .doubleQuotes, .hereDocument, .comment: "${\(name)}"
    case .singleQuotes: "'\"${\(name)}\"'"
    case .dollarQuotes: "'\"${\(name)}\"$'"
    }
  }
}
