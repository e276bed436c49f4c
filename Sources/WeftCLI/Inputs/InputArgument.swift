/// The value of one `-i`: a name, and the source of its value.
///
/// | argument | value |
/// |---|---|
/// | `name=text` | the text, parsed according to the declared type |
/// | `name=@file` | the content of a file without its last line end, parsed likewise; `@-` is standard input |
/// | `name=@@text` | a text that begins with `@` |
/// | `name:=json` | a JSON value, whatever the type; `name:=@file` from a file |
struct InputArgument: Sendable, Hashable {
  enum Source: Sendable, Hashable {
    case given(String)
    case file(String)
  }

  let name: String
  /// Whether the value is JSON, rather than text to parse according to the declared type.
  let isJSON: Bool
  let source: Source

  /// `nil` if the argument does not have this form.
  init?(_ argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    isJSON = parts[0].hasSuffix(":")
    name = String(isJSON ? parts[0].dropLast() : parts[0])
    guard !name.isEmpty else { return nil }
    let value = parts[1]
    if !value.hasPrefix("@") {
      source = .given(String(value))
    } else if value.hasPrefix("@@") {
      source = .given(String(value.dropFirst()))
    } else {
      source = .file(String(value.dropFirst()))
    }
  }

  /// The form for messages: without the value, which may be secret.
  var spelling: String {
    let start = "-i \(name)\(isJSON ? ":" : "")"
    if case .file(let path) = source { return "\(start)=@\(path)" }
    return start
  }

  /// Whether it reads standard input.
  var readsStandardInput: Bool { source == .file("-") }
}
