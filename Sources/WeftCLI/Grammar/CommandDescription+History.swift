/// The commands about recorded runs.
extension CommandDescription {
  static let runs = CommandDescription(
    .runs, "list recorded runs",
    details: [
      "List the newest first: start, state, duration, and the number of steps done.",
      "A run is interrupted if its weft was killed; continue it with \"weft resume RUN\". A run with an "
        + "unreadable journal is listed as damaged, with the reason.",
      "  weft runs --state failure --state interrupted --since 2d",
    ],
    options: [.runState, .runFile, .since, .runLimit, .runListFormat, .directory, .records])

  static let show = CommandDescription(
    .show, "show one recorded run",
    details: [
      "Show the result of the run and of each step, and what \"weft resume\" would do next. Of secret "
        + "outputs, show only the names.",
      "With --follow, ^C ends only the display, not the run.",
      "Exit codes: 0 shown, whatever the result of the run, 2 there is no such run, 4 its journal is "
        + "damaged; with --follow those of weft run, and 4 if its weft disappears before the run ends.",
    ],
    operand: .recordedRun, options: [.followRun, .runDetailFormat, .directory, .records],
    contradictions: [[.followRun, .runDetailFormat]])

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
        value: ValueDescription(name: "STEP", kind: .step), count: .any,
        help: "steps, groups or elements, as \"weft show\" names them; default: all"),
    ],
    options: [.followLogs, .directory, .records])

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
    options: [.keep, .olderThan, .cleanSize, .unfinished, .cleanDryRun, .directory, .records])
}

extension Operand {
  static let recordedRun = Operand(
    value: ValueDescription(name: "RUN", kind: .recordedRun), count: .atMostOne,
    help: "id of a run, or the beginning of one; default: the latest")
}
