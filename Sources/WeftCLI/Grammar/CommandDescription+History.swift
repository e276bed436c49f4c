/// The commands about recorded runs.
extension CommandDescription {
  static let runs = CommandDescription(
    .runs, "list the runs that are recorded",
    details: [
      "The newest first: when each began, what became of it, and how many of its steps are done.",
      "A run is interrupted when its weft was killed: \"weft resume RUN\" goes on with it. One whose record "
        + "cannot be read is listed as damaged, with the reason, and hides no other.",
      "  weft runs --state failure --state interrupted --since 2d",
    ],
    options: [.runState, .runFile, .since, .runLimit, .runListFormat, .directory, .records])

  static let show = CommandDescription(
    .show, "show one recorded run",
    details: [
      "What became of the run and of each of its steps, and what \"weft resume\" would do next. Outputs that are "
        + "secret are not recorded, and told by name.",
      "--follow shows a run that another weft has, and ends with it: ^C ends the showing alone.",
      "Exit codes: 0 it was shown, whatever became of the run, 2 there is no such run, 4 its record is damaged; "
        + "with --follow as of weft run, and 4 if the weft of the run has gone without an end.",
    ],
    operand: .recordedRun, options: [.followRun, .runDetailFormat, .directory, .records],
    contradictions: [[.followRun, .runDetailFormat]])

  static let logs = CommandDescription(
    .logs, "print what the steps of a run have written",
    details: [
      "Of one step byte for byte, both streams in the order in which they came, through all its attempts. Of "
        + "several, of a group, of what is run for many elements, or without STEP of all: line by line, each "
        + "behind the name of its step.",
      "  weft logs build\n  weft logs 20261121-151337 'deploy[eu]'\n  weft logs checks -f",
      "The first operand is the run if it begins like an id, with a day at least (20261121); else it is a step "
        + "of the latest run.",
      "Exit codes: 0 printed, 2 there is no such run or step, 4 a log is not whole, or with --follow, the weft of "
        + "the run has gone.",
    ],
    operands: [
      .recordedRun,
      Operand(
        value: ValueDescription(name: "STEP", kind: .step), count: .any,
        help: "steps, groups or elements, as \"weft show\" names them; default: all"),
    ],
    options: [.followLogs, .directory, .records])

  static let clean = CommandDescription(
    .clean, "remove the records of old runs",
    details: [
      "A run goes if one of the limits says so; without any, all but the last 50 go. A run whose weft is alive is "
        + "never removed, nor anything that is not the folder of a run; one that waits or was interrupted only with "
        + "--unfinished, for it could still be resumed.",
      "\"weft run\" does the same after each run, with its --keep.",
      "  weft clean --keep 10 --older-than 30d --size 1GB --dry-run",
      "Exit codes: 0 done, 2 there are no records there, 4 something could not be removed.",
    ],
    options: [.keep, .olderThan, .cleanSize, .unfinished, .cleanDryRun, .directory, .records])
}

extension Operand {
  static let recordedRun = Operand(
    value: ValueDescription(name: "RUN", kind: .recordedRun), count: .atMostOne,
    help: "the id of a run, or the beginning of one; default: the latest")
}
