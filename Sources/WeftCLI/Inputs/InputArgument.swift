/// What one `-i` says: a name, and how its value is to be had.
///
/// | argument | value |
/// |---|---|
/// | `name=text` | the text, read by the declared type |
/// | `name=@file` | the content of a file, less one line end, read likewise; `@-` is standard input |
/// | `name=@@text` | a text that begins with `@` |
/// | `name:=json` | a JSON value, whatever the type; `name:=@file` from a file |
struct InputArgument: Sendable, Hashable {
  enum Source: Sendable, Hashable {
    case given(String)
    case file(String)
  }

  let name: String
  /// Whether the value is JSON, and not a text to be read by the declared type.
  let isJSON: Bool
  let source: Source

  /// `nil` where it is not of that form.
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

  /// How messages call it: without the value, which may be a secret.
  var spelling: String {
    let start = "-i \(name)\(isJSON ? ":" : "")"
    if case .file(let path) = source { return "\(start)=@\(path)" }
    return start
  }

  /// Whether standard input is read for it.
  var readsStandardInput: Bool { source == .file("-") }
}
