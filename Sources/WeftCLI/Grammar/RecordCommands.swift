/// The commands that send requests to a run.
extension CommandDescription {
  static let approve = CommandDescription(
    .approve, "approve or reject a step that waits for approval",
    details: [
      "Approve STEP, or reject it with --reject. A live run continues at once; one that was suspended with "
        + "exit code 75 continues with \"weft resume RUN\".",
      "Exit codes: 0 the answer is stored, 2 there is no such run, or the step does not wait, 4 the journal "
        + "is damaged.",
    ],
    operands: [
      .recordedRun,
      Operand(
        value: ValueDescription(name: "STEP", kind: .names(.step)), count: .one,
        help: "step, as \"weft show\" names it"),
    ],
    options: [.reject, .directory, .stateDirectory])

  static let cancel = CommandDescription(
    .cancel, "cancel a run from another terminal",
    details: [
      "Cancel the run like the first ^C, and wait until it has ended. A run that waits for approval ends "
        + "with the next \"weft resume RUN\", which runs its cleanups.",
      "Exit codes: 0 the run has ended, 2 there is no such run, or none that goes on, 4 its journal is damaged.",
    ],
    operand: Operand(
      value: ValueDescription(name: "RUN", kind: .names(.run)), count: .atMostOne,
      help: "id of a run, or the beginning of one; default: the latest that runs or waits"),
    options: [.now, .directory, .stateDirectory],
    elsewhere: ["stop", "kill", "abort", "interrupt", "terminate"])
}

extension Option {
  static let reject = Option(
    "--reject", help: "reject the step, which then fails with class rejected",
    elsewhere: ["--deny", "--decline", "--no"])
  static let now = Option(
    "--now", help: "kill the running steps at once, without a grace period",
    elsewhere: ["--force", "--kill", "-9"])
}

/// The commands about recorded runs.
extension CommandDescription {
  static let runs = CommandDescription(
    .runs, "list recorded runs",
    details: [
      "List the newest first: start, state, duration, and the number of steps done.",
      "A run is interrupted if its weft was killed; continue it with \"weft resume RUN\". A run with an "
        + "unreadable journal is listed as damaged, with the reason.",
      "  weft runs --state failure --state interrupted --since 2d",
      "  weft runs --failed-step deploy --failure http:5xx",
    ],
    options: [
      .runState, .failureClass, .failedStep, .runFile, .since, .until, .runLimit, .runListFormat,
      .directory,
      .records,
    ], elsewhere: ["ps", "status", "history"])

  static let show = CommandDescription(
    .show, "show one recorded run",
    details: [
      "Show the result of the run and of each step, and what \"weft resume\" would do next. Of secret "
        + "outputs, show only the names.",
      "With --follow, ^C ends only the display, not the run; --output and -q are those of \"weft run\".",
      "Exit codes: 0 shown, whatever the result of the run, 2 there is no such run, 4 its journal is "
        + "damaged; with --follow those of weft run, and 4 if its weft disappears before the run ends.",
    ],
    operand: .recordedRun,
    options: [.followRun, .output, .quiet, .runDetailFormat, .directory, .records],
    contradictions: [[.followRun, .runDetailFormat], [.quiet, .output]],
    elsewhere: ["inspect", "describe", "info"])

  static let logs = CommandDescription(
    .logs, "print the logs of steps",
    details: [
      "Print the log of one step byte for byte: both streams in order of arrival, all attempts. For several "
        + "steps, a group or a loop, and without STEP, begin each line with the name of its step.",
      "  weft logs build\n  weft logs 20261121-151337 'deploy[eu]'\n  weft logs checks -f",
      "The first operand is the run if it begins like an id, with at least a day (20261121); otherwise it is "
        + "a step of the latest run.",
      "Exit codes: 0 printed, 2 there is no such run or step, 4 a log is incomplete, or its weft disappeared "
        + "during --follow.",
    ],
    operands: [
      .recordedRun,
      Operand(
        value: ValueDescription(name: "STEP", kind: .names(.step)), count: .any,
        help: "steps, groups or elements, as \"weft show\" names them; default: all"),
    ],
    options: [.followLogs, .directory, .records], elsewhere: ["log", "tail"])

  static let report = CommandDescription(
    .report, "write a report about a recorded run",
    details: [
      "Write a report to standard output, or to a file with -o. It is made from the record of the run, so it shows "
        + "any run that is kept, also one that is still running or was killed. Of logs, it has the last lines.",
      "  weft report --format junit -o results.xml\n  weft report 20261121-151337 -o run.trace.json",
      "Of a damaged run, it shows what can be read, and says what is missing.",
      "Exit codes: 0 written, whatever the result of the run, 2 there is no such run, 4 its journal is damaged, "
        + "or the file cannot be written.",
    ],
    operand: .recordedRun, options: [.reportFormat, .reportOutput, .directory, .records])

  static let diff = CommandDescription(
    .diff, "show what differs between two recorded runs",
    details: [
      "Show what changed from the earlier to the later run, in whatever order they are named: definition (by step "
        + "and key), inputs, outcomes of steps and classes of failures, durations, and decisions of caches. Of "
        + "secrets, show nothing.",
      "A duration counts as different from 100 ms on: if it is unusual among the durations of other runs, or, "
        + "without enough of them, from one and a half times on.",
      "  weft diff\n  weft diff 20261121-151337\n  weft diff 20261121-151337 20261120 --format json",
      "Exit codes: 0 shown, whether or not the runs differ, 2 there is no such run, 4 a journal is damaged.",
    ],
    operands: [
      .recordedRun,
      Operand(
        value: ValueDescription(name: "RUN", kind: .names(.run)), count: .atMostOne,
        help: "run to compare it with; default: the previous run of the same file"),
    ],
    options: [.runDetailFormat, .directory, .records])

  static let clean = CommandDescription(
    .clean, "remove old runs",
    details: [
      "Remove each run that exceeds one of the limits; default: all but the last 50. Runs that wait or were "
        + "interrupted could still be resumed, and stay unless --unfinished is given. Runs of a live weft, and "
        + "anything that is not the folder of a run, are never removed.",
      "After each run, \"weft run\" does the same with its --keep.",
      "  weft clean --keep 10 --older-than 30d --size 1GB --dry-run",
      "Exit codes: 0 done, 2 bad usage, or --state-dir does not exist, 4 something could not be removed.",
    ],
    options: [.keep, .olderThan, .cleanSize, .unfinished, .cleanDryRun, .directory, .records],
    elsewhere: ["rm", "remove", "delete", "prune", "gc"])
}

extension Operand {
  static let recordedRun = Operand(
    value: ValueDescription(name: "RUN", kind: .names(.run)), count: .atMostOne,
    help: "id of a run, or the beginning of one; default: the latest")
}

/// The options of commands about recorded runs.
extension Option {
  static let records = Option(
    "--state-dir", value: ValueDescription(name: "DIR", kind: .directory),
    help: "find runs in DIR; default: WEFT_DIR, else the nearest .weft here or above",
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
  static let failureClass = Option(
    "--failure", value: ValueDescription(name: "CLASS", kind: .names(.errorClass)),
    help: "list only runs with a failure of this class, such as exit:3 or timeout; repeatable",
    elsewhere: ["--error", "--reason", "--class"])
  static let failedStep = Option(
    "--failed-step", value: ValueDescription(name: "STEP", kind: .names(.step)),
    help: "list only runs in which this step, or one in this group, failed; repeatable",
    elsewhere: ["--step", "--failed"])
  static let runFile = Option(
    "--file", value: ValueDescription(name: "NAME", kind: .names(.recordedFile)),
    help: "list only runs of this workflow or file; the end of a path is enough",
    elsewhere: ["--workflow", "--name"])
  static let since = Option(
    "--since", value: ValueDescription(name: "D|DATE", kind: .text),
    help: "list only runs that began in the last D, such as 2d, or since DATE",
    elsewhere: ["--after", "--newer-than"])
  static let until = Option(
    "--until", value: ValueDescription(name: "D|DATE", kind: .text),
    help: "list only runs that began longer ago than D, or before DATE",
    elsewhere: ["--before", "--older-than"])
  static let runLimit = Option(
    "--limit", value: ValueDescription(name: "N", kind: .text),
    help: "list only the newest N runs", elsewhere: ["-n", "--last", "--max", "--count"])
  static let runListFormat = Option(
    "--format",
    value: .oneOf(
      .init("table", "for people"), .init("json", "one JSON document"),
      .init("csv", "comma-separated values (RFC 4180)")),
    help: "set the output format; default: table", elsewhere: ["--output", "-o", "-f", "--json"])

  static let followRun = Option(
    "-f", "--follow",
    help: "show the run as its own terminal does, until it ends",
    elsewhere: ["--watch", "-w", "--attach"])
  static let followLogs = Option(
    "-f", "--follow", help: "keep printing as the logs grow, until the steps or the run have ended",
    elsewhere: ["--watch", "-w", "--tail"])
  static let reportFormat = Option(
    "--format",
    value: .oneOf(
      .init("html", "a page that explores the run"),
      .init("markdown", "a summary for comments and job summaries"),
      .init("junit", "test cases, for CI servers"),
      .init("trace", "trace events, for Perfetto and speedscope"),
      .init("csv", "a table of steps (RFC 4180)")),
    help: "set the format; default: by the ending of FILE, without a file html", elsewhere: ["-f"]
  )
  static let reportOutput = Option(
    "-o", "--output", value: ValueDescription(name: "FILE", kind: .file),
    help: "write the report to FILE; - is standard output",
    elsewhere: ["--out", "--file", "--output-file"])
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
    help: "set the output format; default: text", elsewhere: ["-o", "--json"])
}
