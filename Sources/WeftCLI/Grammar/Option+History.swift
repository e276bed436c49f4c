/// The options of commands about recorded runs.
extension Option {
  static let records = Option(
    "--state-dir", value: ValueDescription(name: "DIR", kind: .directory),
    help: "find runs in DIR; default: WEFT_DIR, else .weft",
    elsewhere: ["--work-dir", "--workdir"])

  static let runState = Option(
    "--state",
    value: .oneOf(
      .init("success"), .init("failure"), .init("cancelled"),
      .init("waiting", "waits for approval"),
      .init("interrupted", "weft was killed; not resumed yet"),
      .init("running"), .init("damaged", "the journal cannot be read")),
    help: "list only runs in this state; repeatable",
    elsewhere: ["--status", "--outcome"])
  static let runFile = Option(
    "--file", value: ValueDescription(name: "NAME", kind: .text),
    help: "list only runs of this workflow or file; the end of a path is enough",
    elsewhere: ["--workflow", "--name"])
  static let since = Option(
    "--since", value: ValueDescription(name: "D|DATE", kind: .text),
    help: "list only runs that began in the last D, such as 2d, or since DATE",
    elsewhere: ["--after", "--newer-than"])
  static let runLimit = Option(
    "--limit", value: ValueDescription(name: "N", kind: .text),
    help: "list only the newest N runs", elsewhere: ["-n", "--last", "--max", "--count"])
  static let runListFormat = Option(
    "--format",
    value: .oneOf(
      .init("table", "for people"), .init("json", "one JSON document"),
      .init("csv", "comma-separated values (RFC 4180)")),
    help: "set the output format; default: table", elsewhere: ["--output", "-o", "-f"])

  static let followRun = Option(
    "-f", "--follow",
    help: "show the run as its own terminal does, until it ends",
    elsewhere: ["--watch", "-w", "--attach"])
  static let followLogs = Option(
    "-f", "--follow", help: "keep printing as the logs grow, until the steps or the run have ended",
    elsewhere: ["--watch", "-w", "--tail"])
  static let keep = Option(
    "--keep", value: ValueDescription(name: "N", kind: .text),
    help: "keep the last N runs; default if no other limit is given: 50",
    elsewhere: ["--keep-last", "--last"])
  static let keepAfterRun = Option(
    "--keep", value: ValueDescription(name: "N", kind: .text),
    help: "after the run, remove ended runs except for the last N; default: 50",
    elsewhere: ["--keep-last"])
  static let olderThan = Option(
    "--older-than", value: ValueDescription(name: "D", kind: .text),
    help: "remove runs that began longer ago than D, such as 30d",
    elsewhere: ["--before", "--age", "--max-age"])
  static let cleanSize = Option(
    "--size", value: ValueDescription(name: "S", kind: .text),
    help: "remove the oldest runs until the others hold at most S, such as 500MB",
    elsewhere: ["--max-size", "--keep-storage"])
  static let unfinished = Option(
    "--unfinished", help: "also remove runs that could still be resumed",
    elsewhere: ["--force", "-f", "--all", "-a"])
  static let cleanDryRun = Option(
    "--dry-run", help: "print what would be removed, and remove nothing",
    elsewhere: ["-n", "--just-print"])
  static let runDetailFormat = Option(
    "--format",
    value: .oneOf(.init("text", "for people"), .init("json", "one JSON document")),
    help: "set the output format; default: text", elsewhere: ["--output", "-o"])
}
