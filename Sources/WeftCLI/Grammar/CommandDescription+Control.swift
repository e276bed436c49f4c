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
        value: ValueDescription(name: "STEP", kind: .step), count: .one,
        help: "step, as \"weft show\" names it"),
    ],
    options: [.reject, .directory, .stateDirectory])

  static let cancel = CommandDescription(
    .cancel, "cancel a run from another terminal",
    details: [
      "Cancel the run like the first ^C, and wait until it has ended. A run that waits for approval ends "
        + "with the next \"weft resume RUN\", which runs its cleanups.",
      "Exit codes: 0 the run has ended, 2 there is no such run, 4 its journal is damaged.",
    ],
    operand: Operand(
      value: ValueDescription(name: "RUN", kind: .recordedRun), count: .atMostOne,
      help: "id of a run, or the beginning of one; default: the latest that has not ended"),
    options: [.now, .directory, .stateDirectory])
}

extension Option {
  static let reject = Option(
    "--reject", help: "reject the step, which then fails with class rejected",
    elsewhere: ["--deny", "--decline", "--no"])
  static let now = Option(
    "--now", help: "kill the running steps at once, without a grace period",
    elsewhere: ["--force", "--kill", "-9"])
}
