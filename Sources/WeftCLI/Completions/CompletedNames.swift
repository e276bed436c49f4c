/// Commands that print names for a shell to propose, one a line: weft itself knows them.
enum CompletedNames {
  /// The steps of a file, and of the latest run.
  ///
  /// - Parameter file: The file as the shell refers to it, with its quotes.
  static func steps(_ file: String) -> String {
    let ends = " | cut -d '\"' -f 4"
    return "command weft graph --format json \(file) 2>/dev/null | grep -o '\"address\":\"[^\"]*\"'"
      + ends + "; command weft show --format json 2>/dev/null | grep -o '\"step\": \"[^\"]*\"'"
      + ends
  }

  /// The inputs of a file, each with the `=` behind it.
  static func inputs(_ file: String) -> String {
    "command weft run \(file) --help 2>/dev/null | grep -o '^  -i [A-Za-z_][A-Za-z0-9_-]*='"
      + " | cut -d ' ' -f 4"
  }
}
