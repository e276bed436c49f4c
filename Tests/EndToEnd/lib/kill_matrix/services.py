"""The kill matrix of services: what becomes of a service, and of the step that uses it, in every way to end a run.

Nothing is stopped before the service is in the state of the row.
"""

import signal
import subprocess
import time
from dataclasses import dataclass

from lib.kill_matrix.stopped import TooSoon, describe
from lib.kill_matrix.table import Column, Matrix, Result
from lib.kill_matrix.trial import LIMIT, Failed, only_child


@dataclass(frozen=True)
class Service:
    name: str
    script: str
    # How many processes say that they are up before it is let go.
    members: int
    # It reads a line from go.fifo: how many are up after that.
    after: int = 0
    # The step that uses it reads a line, so that the service is asked to stop.
    user_ends: bool = False
    # The process that reports TERM.
    obeys: str = "child"


ROWS = [
    Service("is starting", "member child; :", members=1),
    Service("is ready", "member child & echo ready; wait", members=2),
    Service("is being stopped, and ignores TERM", "member child & member deaf ignore-term & echo ready; wait",
            members=3, user_ends=True),
    Service("has failed, and is being started again",
            "if [ -e once ]; then member again; exit; fi; touch once; echo ready; read line <go.fifo; exit 1",
            members=1, after=2, obeys="again"),
]


def start(trial, row, *arguments, stubborn=False, failing=False, **keys):
    """Starts a run, and brings its service into the state of the row."""
    extra = "member stubborn ignore-term & " if stubborn else ""
    service = {"ready": {"log": "^ready"}, "timeout": "10m", "restart": 1}
    victim = trial.step("victim", trial.script(extra + row.script), service=service)
    script = "member user & read line <sibling.fifo; kill $!" if row.user_ends else "member user; :"
    user = trial.step("user", trial.script(script), needs=["victim"])
    steps = [{"id": "env", "parallel": [victim, user]}]
    if failing:
        steps.append(trial.step("beside", "while [ ! -e fail ]; do sleep 0.02; done; exit 1"))
    trial.start(steps, *arguments, **keys)
    members = row.members + stubborn
    trial.wait_until_up(members)
    if row.after:
        trial.let_go(trial.go)
        # The first attempt is ended before the second begins.
        trial.wait_until_up(row.after + 2 * stubborn)
    if row.user_ends:
        trial.let_go(trial.go_sibling)
        trial.take_until(lambda: row.obeys in trial.told(), "a service that is asked to stop")
    return time.monotonic()


def finished(trial, row, brought):
    if row.user_ends:
        # Its grace began shortly before.
        trial.stopped = brought - 0.5
    code = trial.wait_for_exit()
    if not trial.left:
        trial.look_for_survivors()
    elif trial.nothing_is_alive():
        trial.left.append("until weft ends")
    end = trial.end_of_step("victim")
    return Result(f"{describe(trial)}, {end['outcome']}, exit code {code}", {}, trial.seconds())


def cancelled(trial, row):
    brought = start(trial, row)
    trial.send(signal.SIGTERM)
    return finished(trial, row, brought)


def timed_out(trial, row):
    # A second passes before another start.
    limit = max(trial.patience, 4) if row.after else trial.patience
    brought = start(trial, row, "--timeout", f"{limit}s")
    trial.stopped = trial.started + limit
    if brought >= trial.stopped:
        raise TooSoon()
    return finished(trial, row, brought)


def failed_fast(trial, row):
    brought = start(trial, row, "--fail-fast", failing=True)
    trial.stopped = time.monotonic()
    open(f"{trial.path}/fail", "w").close()
    return finished(trial, row, brought)


def interrupted(trial, row):
    brought = start(trial, row, terminal=True)
    trial.press(b"\x03")
    return finished(trial, row, brought)


def interrupted_twice(trial, row):
    brought = start(trial, row, terminal=True, stubborn=True)
    trial.press(b"\x03")
    trial.read_until("^C again kills now")
    trial.take_until(lambda: row.obeys in trial.told(), "a member that has been told")
    trial.press(b"\x03")
    return finished(trial, row, brought)


def engine_killed(trial, row):
    start(trial, row)
    trial.take_until(lambda: trial.events_of("run.started"), "the first event")
    trial.send(signal.SIGKILL)
    trial.process.wait()
    if trial.nothing_is_alive():
        raise Failed("dead before it was reaped")
    run = trial.events_of("run.started")[0]["run"]
    done = subprocess.run([trial.weft, "reap", run], cwd=trial.path, capture_output=True, text=True, timeout=LIMIT)
    trial.look_for_survivors()
    return Result(
        f"{describe(trial)}, exit code {done.returncode} of `weft reap`", {}, trial.seconds())


def first_process(trial, row):
    """When process 1 of a namespace ends, the kernel kills all others: it cannot, for nobody takes its events."""
    brought = start(trial, row, through=("unshare", "--pid", "--fork", "--mount-proc"))
    trial.fill_events()
    trial.send(signal.SIGTERM, only_child(trial.process.pid))
    trial.read_until("steps succeeded")
    trial.look_for_survivors()
    if trial.process.poll() is not None:
        raise Failed("weft ended although nobody took its events")
    trial.empty_events()
    return finished(trial, row, brought)


SERVICES = Matrix("the kill matrix of services", "a service that …", ROWS, [
    Column("cancelled (TERM to weft)", cancelled),
    Column("`--timeout` of the run", timed_out),
    Column("`--fail-fast`", failed_fast),
    Column("first ^C", interrupted),
    Column("second ^C", interrupted_twice),
    Column("weft killed, then `weft reap`", engine_killed),
    Column("weft as process 1, cancelled", first_process),
])
