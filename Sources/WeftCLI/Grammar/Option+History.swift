/// The options of commands about recorded runs.
extension Option {
  static let records = Option(
    "--state-dir", value: ValueDescription(name: "DIR", kind: .directory),
    help: "the records of runs are in DIR; default: WEFT_DIR, else .weft in this directory",
    elsewhere: ["--work-dir", "--workdir"])

  static let runState = Option(
    "--state",
    value: .oneOf(
      .init("success"), .init("failure"), .init("cancelled"),
      .init("waiting", "for somebody who approves"),
      .init("interrupted", "its weft was killed, and it has not been resumed"),
      .init("running"), .init("damaged", "its record cannot be read")),
    help: "only runs of which this is the state; may be given several times",
    elsewhere: ["--status", "--outcome"])
  static let runFile = Option(
    "--file", value: ValueDescription(name: "NAME", kind: .text),
    help: "only runs of the file or workflow of this name; of a path its end will do",
    elsewhere: ["--workflow", "--name"])
  static let since = Option(
    "--since", value: ValueDescription(name: "D|DATE", kind: .text),
    help: "only runs that have begun in the last D, such as 2d, or since a date",
    elsewhere: ["--after", "--newer-than"])
  static let runLimit = Option(
    "--limit", value: ValueDescription(name: "N", kind: .text),
    help: "at most N runs, the newest", elsewhere: ["-n", "--last", "--max", "--count"])
  static let runListFormat = Option(
    "--format",
    value: .oneOf(
      .init("table", "for people"), .init("json", "one JSON document"),
      .init("csv", "comma-separated values (RFC 4180)")),
    help: "how to print them; default: table", elsewhere: ["--output", "-o", "-f"])

  static let followRun = Option(
    "-f", "--follow",
    help: "show the run as its own terminal does, from the start of its weft until it ends",
    elsewhere: ["--watch", "-w", "--attach"])
  static let followLogs = Option(
    "-f", "--follow", help: "go on printing until the steps, or the run, have ended",
    elsewhere: ["--watch", "-w", "--tail"])
  static let keep = Option(
    "--keep", value: ValueDescription(name: "N", kind: .text),
    help: "keep the last N runs; default, without another limit: 50",
    elsewhere: ["--keep-last", "--last"])
  static let keepAfterRun = Option(
    "--keep", value: ValueDescription(name: "N", kind: .text),
    help:
      "keep the records of the last N runs; older ones that have ended are removed after the run; "
      + "default: 50", elsewhere: ["--keep-last"])
  static let olderThan = Option(
    "--older-than", value: ValueDescription(name: "D", kind: .text),
    help: "remove runs that began longer ago than D, such as 30d",
    elsewhere: ["--before", "--age", "--max-age"])
  static let cleanSize = Option(
    "--size", value: ValueDescription(name: "S", kind: .text),
    help: "remove the oldest until all together have no more than S, such as 500MB",
    elsewhere: ["--max-size", "--keep-storage"])
  static let unfinished = Option(
    "--unfinished", help: "also those that wait or were interrupted, and could still be resumed",
    elsewhere: ["--force", "-f", "--all", "-a"])
  static let cleanDryRun = Option(
    "--dry-run", help: "tell what would be removed, and remove nothing",
    elsewhere: ["-n", "--just-print"])
  static let runDetailFormat = Option(
    "--format",
    value: .oneOf(.init("text", "for people"), .init("json", "one JSON document")),
    help: "how to print it; default: text", elsewhere: ["--output", "-o"])
}
