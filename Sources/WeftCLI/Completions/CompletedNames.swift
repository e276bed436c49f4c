/// Commands that print names for shells to propose, one per line, by calling weft itself.
enum CompletedNames {
  /// Returns commands for the steps of a file and of the latest run.
  ///
  /// - Parameter file: The file as the shell refers to it, quoted.
  static func steps(_ file: String) -> String {
    let ends = " | cut -d '\"' -f 4"
    return "command weft graph --format json \(file) 2>/dev/null | grep -o '\"address\":\"[^\"]*\"'"
      + ends + "; command weft show --format json 2>/dev/null | grep -o '\"step\": \"[^\"]*\"'"
      + ends
  }

  /// Returns a command for the inputs of a file, each followed by `=`.
  static func inputs(_ file: String) -> String {
    "command weft run \(file) --help 2>/dev/null | grep -o '^  -i [A-Za-z_][A-Za-z0-9_-]*='"
      + " | cut -d ' ' -f 4"
  }
}
