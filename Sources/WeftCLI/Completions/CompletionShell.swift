/// The shells with completions, which are generated from the grammar.
enum CompletionShell: String, CaseIterable {
  case bash, zsh, fish

  var script: String {
    switch self {
    case .bash: BashCompletion.script
    case .zsh: ZshCompletion.script
    case .fish: FishCompletion.script
    }
  }
}

extension String {
  /// The text as one word of a Bourne shell.
  var inSingleQuotes: String { "'" + replacing("'", with: "'\\''") + "'" }

  /// Exists because the standard library has no such method without Foundation.
  func replacing(_ character: Character, with replacement: String) -> String {
    reduce(into: "") { $0 += $1 == character ? replacement : String($1) }
  }
}
