import WeftDiagnostics

/// Keys of other programs that have no counterpart of one key: what takes their place.
extension Diagnostic {
  /// - Parameter noun: The object that has the key.
  static func keyElsewhere(_ key: String, of noun: String) -> Diagnostic? {
    guard let help = helpElsewhere[key] else { return nil }
    return Diagnostic(.unknownKey, "\(quoted(key)) is not a key of \(noun)", help: help)
  }

  private static let helpElsewhere: [String: String] = {
    let read = "list the files that a step reads in its \"cache\": { \"inputs\": [\"src/**\"] }"
    let made = "list the files that a step makes in its \"cache\": { \"outputs\": [\"build\"] }"
    let container =
      "Weft starts no containers; run the program that does, for example docker run --rm IMAGE COMMAND"
    let start =
      "Weft starts no runs by itself; let cron, a hook or your CI service call weft run"
    return [
      "sources": read, "srcs": read,
      "generates": made, "artifacts": made, "targets": made,
      "container": container, "image": container,
      "on": start, "triggers": start, "schedule": start,
      "runs-on": "all steps run on this machine; remove the key",
      "permissions": "steps have the permissions of the user who runs weft; remove the key",
      "includes": "a step runs another file: { \"workflow\": \"other.json\" }",
      "include": "a step runs another file: { \"workflow\": \"other.json\" }",
    ]
  }()
}
