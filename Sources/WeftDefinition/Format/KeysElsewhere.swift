import WeftDiagnostics
import WeftJSON

/// Keys of other programs that have no counterpart of one key: what takes their place.
extension Diagnostic {
  /// - Parameter noun: The object that has the key.
  static func keyElsewhere(_ key: String, _ value: JSONNode, of noun: String) -> Diagnostic? {
    // Files are texts; an object of that name is a misspelling of a key.
    guard
      let help = value.kind != .object
        ? filesElsewhere[key] ?? helpElsewhere[key] : helpElsewhere[key]
    else { return nil }
    return Diagnostic(.unknownKey, "\(quoted(key)) is not a key of \(noun)", help: help)
  }

  private static let read =
    "list the files that a step reads in its \"cache\": { \"inputs\": [\"src/**\"] }"
  private static let made =
    "list the files that a step makes in its \"cache\": { \"outputs\": [\"build\"] }"

  private static let filesElsewhere = [
    "input": read + "; text for its program is \"stdin\"",
    "output": made + "; values are \"outputs\"",
  ]

  private static let helpElsewhere: [String: String] = {
    let container =
      "Weft starts no containers; run the program that does, for example docker run --rm IMAGE COMMAND"
    let rule =
      "write each rule as a step with \"id\", \"run\" and \"cache\": { \"inputs\": […], \"outputs\": […] }"
    let process =
      "write each process as a step with \"id\" and \"run\"; \"forEach\" runs it for many values"
    let loop =
      "a loop runs a step for each file: \"forEach\": { \"glob\": \"data/*.txt\" }, read as item"
    let partition =
      "declare it in \"runners\": { \"cluster\": { \"kind\": \"slurm\", \"partition\": \"NAME\" } }"
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
      "task":
        "\"needs\" orders steps; steps that several files share are a file: { \"workflow\": \"other.json\" }",
      "silent": "weft run -q shows the output of failed steps only; remove the key",
      "status": "a step with \"cache\" runs only if its inputs have changed",
      "version": "files have no version; remove the key",
      "as": "it belongs to the loop: \"forEach\": { \"in\": [\"a\"], \"as\": \"name\" }",
      "rule": rule, "rules": rule, "process": process, "processes": process,
      "wildcards": loop, "wildcard_constraints": loop,
      "configfile":
        "declare the values as \"inputs\"; weft run --inputs FILE reads them from a file",
      "conda": "Weft makes no environments; run the program in one: conda run -n NAME COMMAND",
      "singularity": container,
      "publishDir": "Weft moves no files; let the command write or copy them to that directory",
      "log":
        "Weft keeps what each step writes: weft logs; a command writes a file of its own with > FILE",
      "benchmark": "Weft measures each step: weft show, weft report --format csv; remove the key",
      "errorStrategy":
        "\"retry\" repeats a step that fails, \"allowFailure\" lets the run continue, \"onFailure\" is for all",
      "maxForks": "write \"maxParallel\" in \"forEach\", or give the step a \"pool\"",
      "queue": partition, "clusterOptions": partition,
    ]
  }()
}
