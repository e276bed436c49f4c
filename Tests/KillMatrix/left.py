"""What becomes of processes that a step leaves behind when it ends by itself.

Another step is still running then, so the end of the step and the end of the run are told apart.
"""

from table import Column, Matrix, Result, Row

ROWS = [
    Row("in the step's process group", "member child & "),
    Row("in a session of its own", "member child session & "),
    Row("a daemon", "member daemon daemon; "),
    Row("a daemon that cleared its environment", "env -i member daemon daemon; "),
]

WITH_STEP, WITH_RUN, LIVES_ON = "ended with the step", "ended with the run", "lives on"


def left_behind(code, **keys):
    def run(trial, row):
        leaving = trial.script(f"{row.script} read line <go.fifo; exit {code}")
        trial.start([trial.step("victim", leaving, **keys),
                     trial.step("sibling", "read line <sibling.fifo")])
        trial.wait_until_up(row.members)
        trial.let_go(trial.go)
        trial.take_until(lambda: trial.end_of_step("victim"), "the end of the step")
        when = WITH_STEP if trial.nothing_is_alive() else None
        trial.let_go(trial.go_sibling)
        exit_code = trial.wait_for_exit()
        when = when or (WITH_RUN if trial.nothing_is_alive() else LIVES_ON)
        return Result(when, {"*exit code*": str(exit_code)})
    return run


LEFT = Matrix("what is left behind", "a process that is left, …", ROWS, [
    Column("the step succeeded", left_behind(0)),
    Column("the step succeeded, `leftovers: keep`", left_behind(0, leftovers="keep")),
    Column("the step failed", left_behind(1)),
    Column("the step failed, `leftovers: keep`", left_behind(1, leftovers="keep")),
])
