/// The shells that complete command lines of weft, by scripts made from the grammar.
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
  /// As one word of a Bourne shell, whatever it holds.
  var inSingleQuotes: String { "'" + replacing("'", with: "'\\''") + "'" }

  /// The standard library has no such method without Foundation.
  func replacing(_ character: Character, with replacement: String) -> String {
    reduce(into: "") { $0 += $1 == character ? replacement : String($1) }
  }
}
