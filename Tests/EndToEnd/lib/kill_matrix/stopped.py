"""The kill matrix: what becomes of steps that are hard to end, in every way to end one before its time.

Nothing is stopped before every member of the step has said that it is up.
"""

import os
import signal
import subprocess

from lib.kill_matrix.table import Column, Matrix, Result, Row
from lib.kill_matrix.trial import GRACE, LIMIT, Failed, only_child

ROWS = [
    Row("`sh`: a script and its child", "member child; :"),
    Row("`sh -c 'a & b; wait'`", "member a & member b & wait", members=2, is_command=True),
    Row("`setsid`: a session of its own", "member child session silent & wait"),
    Row("double fork: a daemon in `/`", "member daemon daemon; member child; :", members=2),
    Row("ignores TERM", "trap '' TERM; member child ignore-term; :", obeys=False),
    Row("ignores INT", "trap '' INT; member child ignore-int; :"),
    Row("holds the pipe, from a session of its own, and ignores TERM",
        "member holder session ignore-term & member child; :", members=2),
    Row("keeps writing", "member a write & member b write & wait", members=2, needs_reader=True),
    Row("is stopped, all of it", "member child stop; :"),
    Row("forks whenever one of it is stopped or dies", "member many multiply & member child; :",
        members=2),
    Row("clears its environment", "env -i member child; :"),
    Row("a daemon that cleared its environment", "env -i member daemon daemon; member child; :",
        members=2),
    Row("a daemon that moved itself to another control group",
        "member daemon leave-group daemon; member child; :", members=2),
    Row("reads the terminal", "if read line </dev/tty; then exit 9; fi; member child; :"),
]


class TooSoon(Exception):
    """The timeout came before all was up: nothing is learnt from that."""


def victim(trial, row, extra="", **keys):
    script = trial.script(extra + row.script)
    return trial.step("victim", ["sh", "-c", script] if row.is_command else script, **keys)


# Columns

def cancelled(trial, row):
    trial.start([victim(trial, row)])
    trial.wait_until_up(row.members)
    trial.send(signal.SIGTERM)
    return finished(trial)


def step_timed_out(trial, row):
    return timed_out(trial, row, lambda limit: ([victim(trial, row, timeout=limit)],))


def run_timed_out(trial, row):
    return timed_out(trial, row, lambda limit: ([victim(trial, row)], "--timeout", limit))


def timed_out(trial, row, arguments):
    """No hand-shake holds a timeout back, so it must not have come before all are up."""
    trial.start(*arguments(f"{trial.patience}s"))
    trial.stopped = trial.started + trial.patience
    if trial.wait_until_up(row.members) >= trial.stopped:
        raise TooSoon()
    return finished(trial)


def failed_fast(trial, row):
    failing = trial.step("sibling", trial.script("read line <sibling.fifo; exit 1"))
    trial.start([victim(trial, row), failing], "--fail-fast")
    trial.wait_until_up(row.members)
    trial.let_go(trial.go_sibling)
    return finished(trial)


def interrupted(trial, row):
    trial.start([victim(trial, row)], terminal=True)
    trial.wait_until_up(row.members)
    trial.press(b"\x03")
    return finished(trial)


def interrupted_twice(trial, row):
    """One more member ignores TERM, so that in every row there is something left for the second ^C; and that
    is pressed only when TERM has come."""
    extra = "member stubborn ignore-term & read line <go.fifo; "
    trial.start([victim(trial, row, extra)], terminal=True)
    trial.wait_until_up(1)
    trial.let_go(trial.go)
    trial.wait_until_up(row.members + 1)
    trial.press(b"\x03")
    trial.read_until("^C again kills now")
    if row.obeys:
        trial.take_until(trial.told, "a member that has been told")
    trial.press(b"\x03")
    return finished(trial)


def engine_killed(trial, row):
    if row.needs_reader:
        # It is held to have left nothing, which a job done for it would be.
        trial.neighbours.answer_nobody()
    trial.start([victim(trial, row)])
    trial.wait_until_up(row.members)
    trial.take_until(lambda: trial.events_of("run.started"), "the first event")
    trial.send(signal.SIGKILL)
    trial.process.wait()
    if row.needs_reader:
        os.close(trial.terminal)
        trial.terminal = None
        trial.wait_until_dead()
    elif trial.nothing_is_alive():
        raise Failed("dead before it was reaped")
    run = trial.events_of("run.started")[0]["run"]
    done = subprocess.run([trial.weft, "reap", run], cwd=trial.path, capture_output=True, text=True,
                          timeout=LIMIT)
    trial.look_for_survivors()
    notes = {OUTCOME: "—", CODE: f"137, {done.returncode} of `weft reap`"}
    if row.needs_reader:
        if "nothing left to end" not in done.stdout:
            raise Failed(f"weft reap said: {done.stdout}{done.stderr}")
        del notes[CODE]
    return Result(describe(trial), notes, trial.seconds())


def first_process(trial, row):
    """When process 1 of a namespace ends, the kernel kills all others: so it must not end before this has
    seen who is left. It cannot, for nobody takes its events."""
    trial.start([victim(trial, row)], through=("unshare", "--pid", "--fork", "--mount-proc"))
    trial.wait_until_up(row.members)
    trial.fill_events()
    trial.send(signal.SIGTERM, only_child(trial.process.pid))
    trial.read_until(" of 1 step succeeded")
    trial.look_for_survivors()
    if trial.process.poll() is not None:
        raise Failed("weft ended although nobody took its events")
    trial.empty_events()
    return finished(trial)


# Results

OUTCOME, CODE = "*the step's outcome*", "*exit code*"
AT_ONCE, AFTER_GRACE = "at once", "after the grace"


def finished(trial):
    code = trial.wait_for_exit()
    if not trial.left:
        trial.look_for_survivors()
    elif trial.nothing_is_alive():
        trial.left.append("until weft ends")
    end = trial.end_of_step("victim")
    classes = end.get("failure", {}).get("classes", [])
    outcome = end["outcome"] + (f" ({', '.join(classes)})" if classes else "")
    leader = end["exit"].get("signal") or f"exit {end['exit']['code']}"
    return Result(describe(trial, leader), {OUTCOME: outcome, CODE: str(code)}, trial.seconds())


def describe(trial, *leader):
    """Which signals ended its processes, how long that took, and what is left."""
    told = trial.told()
    dead = set(trial.up) - set(trial.left)
    signals = {*leader, *(told.get(member, "KILL") for member in dead)}
    order = ("PIPE", "HUP", "TERM", "KILL")
    words = " and ".join(sorted(signals, key=lambda name: order.index(name) if name in order else 9))
    pace = AT_ONCE if trial.seconds() < GRACE else AFTER_GRACE
    left = f", **left: {', '.join(trial.left)}**" if trial.left else ""
    return f"{words}, {pace}{left}"


STOPPED = Matrix("the kill matrix", "a step that …", ROWS, [
    Column("cancelled (TERM to weft)", cancelled),
    Column("step's `timeout`", step_timed_out),
    Column("`--timeout` of the run", run_timed_out),
    Column("`--fail-fast`", failed_fast),
    Column("first ^C", interrupted),
    Column("second ^C", interrupted_twice),
    Column("weft killed, then `weft reap`", engine_killed),
    Column("weft as process 1, cancelled", first_process),
])
