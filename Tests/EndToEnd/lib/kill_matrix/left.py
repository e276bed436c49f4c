"""What becomes of processes that a step leaves behind when it ends by itself.

Another step is still running then, so the end of the step and the end of the run are told apart.
"""

import signal
import subprocess

from lib.kill_matrix.table import Column, Matrix, Result, Row
from lib.kill_matrix.trial import LIMIT

ROWS = [
    Row("in the step's process group", "member child & "),
    Row("in a session of its own", "member child session & "),
    Row("a daemon", "member daemon daemon; "),
    Row("a daemon that cleared its environment", "env -i member daemon daemon; "),
]

BY_RESUME = "ended by `weft resume`"
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


def resumed(**keys):
    """weft is killed while the sibling runs, and the run resumed: the sibling is in doubt."""
    def run(trial, row):
        leaving = trial.script(f"{row.script} read line <go.fifo")
        trial.start([trial.step("victim", leaving, **keys),
                     # It holds no lock, so that only what is left behind does.
                     trial.step("sibling", "read line <sibling.fifo")])
        trial.wait_until_up(row.members)
        trial.let_go(trial.go)
        trial.take_until(lambda: trial.end_of_step("victim"), "the end of the step")
        run = trial.events_of("run.started")[0]["run"]
        trial.send(signal.SIGKILL)
        trial.process.wait()
        when = WITH_STEP if trial.nothing_is_alive() else None
        codes = []
        for words in (["resume", run, "--containment", trial.level], ["reap", run]):
            done = subprocess.run([trial.weft, *words], cwd=trial.path, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, timeout=LIMIT)
            codes.append(str(done.returncode))
        when = when or (BY_RESUME if trial.nothing_is_alive() else LIVES_ON)
        return Result(when, {"*exit code*": f"137, {codes[0]} of `weft resume`, {codes[1]} of `weft reap`"})
    return run


LEFT = Matrix("what is left behind", "a process that is left, …", ROWS, [
    Column("the step succeeded", left_behind(0)),
    Column("the step succeeded, `leftovers: keep`", left_behind(0, leftovers="keep")),
    Column("the step failed", left_behind(1)),
    Column("the step failed, `leftovers: keep`", left_behind(1, leftovers="keep")),
    Column("the step succeeded, and weft is killed and the run resumed", resumed()),
    Column("the same with `leftovers: keep`", resumed(leftovers="keep")),
])
