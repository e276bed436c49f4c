/// The commands that tell of runs that were.
extension CommandDescription {
  static let runs = CommandDescription(
    .runs, "list the runs that are recorded",
    details: [
      "The newest first: when each began, what became of it, and how many of its steps are done.",
      "A run is interrupted when its weft was killed: \"weft resume RUN\" goes on with it. One whose record "
        + "cannot be read is listed as damaged, with the reason, and hides no other.",
      "  weft runs --state failure --state interrupted --since 2d",
    ],
    options: [.runState, .runFile, .since, .runLimit, .runListFormat, .stateDirectory])

  static let show = CommandDescription(
    .show, "tell what is recorded of one run",
    details: [
      "What became of the run and of each of its steps, and what \"weft resume\" would do next. Outputs that are "
        + "secret are not recorded, and told by name.",
      "--follow shows a run that another weft has, and ends with it: ^C ends the showing alone.",
      "Exit codes: 0 it was shown, whatever became of the run, 2 there is no such run, 4 its record is damaged; "
        + "with --follow as of weft run, and 4 if the weft of the run has gone without an end.",
    ],
    operand: .recordedRun, options: [.followRun, .runDetailFormat, .stateDirectory],
    contradictions: [[.followRun, .runDetailFormat]])
}

extension Operand {
  static let recordedRun = Operand(
    value: ValueDescription(name: "RUN", kind: .recordedRun), count: .atMostOne,
    help: "the id of a run, or the beginning of one; default: the latest")
}
