/// The commands that send requests to a run.
extension CommandDescription {
  static let approve = CommandDescription(
    .approve, "answer a step that waits for approval",
    details: [
      "A run under way goes on at once. One that nobody could be asked at has ended with exit code 75: it goes "
        + "on with \"weft resume RUN\".",
      "RUN is the id of a run or the beginning of one; without it the latest.",
      "Exit codes: 0 the answer is there, 2 there is no such run, or the step waits for nobody, 4 the record "
        + "is damaged.",
    ],
    operands: [
      .recordedRun,
      Operand(
        value: ValueDescription(name: "STEP", kind: .step), count: .one,
        help: "the step, as \"weft show\" names it"),
    ],
    options: [.reject, .directory, .stateDirectory])

  static let cancel = CommandDescription(
    .cancel, "end a run from another terminal",
    details: [
      "Ends it as the first ^C does, and waits until it has ended. A run that waits for approval is ended by "
        + "the next \"weft resume RUN\", which cleans up.",
      "RUN is the id of a run or the beginning of one; without it the latest that has not ended.",
      "Exit codes: 0 it has ended, or had, 2 there is no such run, 4 its record is damaged.",
    ],
    operand: .recordedRun, options: [.now, .directory, .stateDirectory])
}

extension Option {
  static let reject = Option(
    "--reject", help: "say no: the step fails with the class rejected",
    elsewhere: ["--deny", "--decline", "--no"])
  static let now = Option(
    "--now", help: "kill what runs, without a grace", elsewhere: ["--force", "--kill", "-9"])
}
