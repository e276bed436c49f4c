#!/usr/bin/env python3
"""Runs weft with few descriptors, processes or job slots, and counts how it uses them.

usage: test_supply.py PATH_TO_WEFT

Limits of a running weft are lowered and raised with prlimit(2). With WEFT_LONG=1 it also waits the minute until weft
gives up.
"""

import fcntl
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import time

from lib import cases, pace
from lib.cases import Skipped

LIMIT = 60  # seconds, against hanging only
NOBODY = 54321  # a user without any process
FEW = 6  # descriptors, which weft has open at any time; poll(2) refuses to work under fewer than 5


class Run:
    """A running weft in a directory of its own, and its events."""

    def __init__(self, weft, workflow, *arguments, prepare=None, user=None, command=None,
                 makefile=None):
        self.directory = tempfile.TemporaryDirectory(prefix="weft-supply-")
        self.path = pathlib.Path(self.directory.name)
        (self.path / "workflow.json").write_text(json.dumps(workflow))
        if makefile:
            (self.path / "Makefile").write_text(makefile)
        for name in ("go", "began"):
            os.mkfifo(self.path / name)
            (self.path / name).chmod(0o666)
        self.path.chmod(0o1777)

        command = command or [weft, "run", "--events", "-", "workflow.json", *arguments]
        signal.alarm(LIMIT)
        self.user = user
        self.process = subprocess.Popen(
            command, cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, preexec_fn=prepare, close_fds=False,
            **identity(user))
        self.events = []

    def next(self, kind):
        """Reads up to the next event of a kind."""
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if self.events[-1]["type"] == kind:
                return self.events[-1]
        raise AssertionError(f"no {kind}: {self.events[-3:]} {self.process.stderr.read()}")

    def to_end(self):
        """Reads the rest; returns the exit code."""
        self.events += [json.loads(line) for line in self.process.stdout]
        self.errors = self.process.stderr.read()
        return self.process.wait()

    def of(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def written(self, step):
        return [event["text"] for event in self.of("step.output") if event["step"] == step]

    def most_jobs(self):
        """The highest number of jobs at once, by what each wrote at its beginning and its end."""
        most = now = 0
        for line in (self.path / "jobs").read_text().split():
            now += {"+": 1, "-": -1}[line]
            most = max(most, now)
        assert now == 0, "a job has begun and not ended"
        return most

    def limit(self, which, soft):
        """Sets a soft limit of the running weft; returns the previous one."""
        theirs, ours = os.pipe()
        child = os.fork()
        if child == 0:  # as weft's own user, who needs no privilege for it
            try:
                if self.user is not None:
                    os.setgroups([])
                    os.setresgid(*[self.user] * 3)
                    os.setresuid(*[self.user] * 3)
                before, hard = resource.prlimit(self.process.pid, which)
                resource.prlimit(self.process.pid, which, (soft, hard))
                os.write(ours, str(before).encode())
            finally:
                os._exit(0)
        os.close(ours)
        os.waitpid(child, 0)
        with open(theirs) as result:
            return int(result.read())

    def hear(self, name):
        """Waits until a step has opened a FIFO for writing, and written."""
        return (self.path / name).read_text()

    def tell(self, name):
        """Lets a step continue that reads from a FIFO."""
        (self.path / name).write_text("go\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        signal.alarm(0)
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.directory.cleanup()


def identity(user):
    """The arguments with which subprocess becomes a user, and no more."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


def wide(count, script="true", **keys):
    return dict(keys, parallel=[{"id": f"s{index}", "run": script} for index in range(count)])


def most_at_once(run):
    most = now = 0
    for event in run.events:
        now += {"step.started": 1, "step.finished": -1}.get(event["type"], 0)
        most = max(most, now)
    return most


def few_descriptors(weft):
    "P17: under a limit of 64 open files, 200 jobs become fewer with one warning that names both"
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    with Run(weft, wide(200, "ulimit -n"), "-j", "200", prepare=limit) as run:
        assert run.to_end() == 0, run.errors
        told = run.of("run.started")[0]["maxParallel"]
        assert 2 <= told < 6, told
        [warning] = run.of("run.warning")
        assert warning["code"] == "few-descriptors", warning
        for number in (told, 200, 64):
            assert str(number) in warning["message"], warning
        assert "ulimit -n" in warning["help"], warning
        assert most_at_once(run) == told, most_at_once(run)
        assert run.written("s7") == ["64"], run.written("s7")


def soft_limit_is_raised(weft):
    "P17: a soft limit is raised for weft, and given back to its programs"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    with Run(weft, wide(50, "ulimit -n"), "-j", "50", prepare=limit) as run:
        assert run.to_end() == 0, run.errors
        assert run.of("run.warning") == [], run.of("run.warning")
        assert run.of("run.started")[0]["maxParallel"] == 50
        assert {event["text"] for event in run.of("step.output")} == {"64"}


def high_numbers(weft):
    "P18: a descriptor numbered above the limit does no harm, and reaches no program"

    def limit():
        os.dup2(1, 251, inheritable=True)
        resource.setrlimit(resource.RLIMIT_NOFILE, (96, 96))

    with Run(weft, wide(20, "ls /proc/self/fd"), "-j", "4", prepare=limit) as run:
        assert run.to_end() == 0, run.errors
        assert run.of("run.warning") == [], run.of("run.warning")
        # The fourth is the listing's own.
        assert run.written("s3") == ["0", "1", "2", "3"], run.written("s3")


# The second waits for the first, which ends on request; so does a third, side by side with it.
RELAY = {"parallel": [
    {"id": "first", "run": "echo running; echo began >began; read word <go"},
    {"id": "second", "run": "echo second", "needs": ["first"], "timeout": "10s"},
    {"id": "third", "run": "echo third", "needs": ["first"]},
]}


def relay(weft, which, soft, error, user=None):
    """The limit is lowered while the first runs, so that the others wait; then it is raised again."""
    with Run(weft, RELAY, "-j", "4", user=user) as run:
        run.hear("began")
        # Its log is open then: the limit is for starts.
        run.next("step.output")
        before = run.limit(which, soft)
        run.tell("go")
        warning = run.next("run.warning")
        assert warning["code"] == "scarce-resources" and error in warning["message"], warning
        assert run.process.poll() is None
        run.limit(which, before)
        assert run.to_end() == 0, (run.events, run.errors)
        assert len(run.of("run.warning")) == 1, run.of("run.warning")
        assert (run.written("second"), run.written("third")) == (["second"], ["third"])


def cancelled_relay(weft, which, soft, user=None):
    """The limit stays low, and the run is cancelled while the others wait."""
    with Run(weft, RELAY, "-j", "4", user=user) as run:
        run.hear("began")
        # Its log is open then: the limit is for starts.
        run.next("step.output")
        run.limit(which, soft)
        run.tell("go")
        run.next("run.warning")
        run.process.send_signal(signal.SIGINT)
        assert run.to_end() == 130, run.errors
        ends = {event["step"]: event for event in run.of("step.finished")}
        for name in ("second", "third"):
            assert ends[name]["outcome"] == "cancelled" and "exit" not in ends[name], ends[name]
            # Delays of 5 s come after six others: no step slept through the cancellation.
            assert ends[name]["durationUs"] < 4_000_000, ends[name]


def no_descriptors(weft):
    "P19: a start that finds no descriptor waits with one warning, and continues when there are some"
    relay(weft, resource.RLIMIT_NOFILE, FEW, "EMFILE")


def cancelled_without_descriptors(weft):
    "P19: a cancellation ends the wait for descriptors at once"
    cancelled_relay(weft, resource.RLIMIT_NOFILE, FEW)


def gives_up(weft):
    "P19: after a minute without descriptors, in which nothing else ran, the start has failed"
    signal.alarm(0)
    with Run(weft, RELAY, "-j", "4", "-k") as run:
        signal.alarm(120)
        run.hear("began")
        # Its log is open then: the limit is for starts.
        run.next("step.output")
        run.limit(resource.RLIMIT_NOFILE, FEW)
        run.tell("go")
        assert run.to_end() == 1, run.errors
        ends = {event["step"]: event for event in run.of("step.finished")}
        for name in ("second", "third"):
            assert ends[name]["failure"]["classes"] == ["spawn"], ends[name]
            assert "EMFILE" in ends[name]["failure"]["message"], ends[name]
            assert 59_000_000 < ends[name]["durationUs"] < 75_000_000, ends[name]


def user_without_processes(weft):
    """The user that runs the tests of P20: the limit of processes binds every user but root."""
    user = None if os.getuid() else NOBODY
    probe = subprocess.run([weft, "version"], capture_output=True, check=False, **identity(user))
    if probe.returncode:
        raise Skipped(f"user {user} cannot run {weft}")
    return user


def no_processes(weft):
    "P20: a start that finds no process or thread waits with one warning, and continues when there is one"
    relay(weft, resource.RLIMIT_NPROC, 1, "EAGAIN", user_without_processes(weft))


def cancelled_without_processes(weft):
    "P20: a cancellation ends the wait for a process or thread at once"
    cancelled_relay(weft, resource.RLIMIT_NPROC, 1, user_without_processes(weft))


def few_processes(weft):
    "P20: if only a few processes fit, all steps run, a few at a time"
    user = user_without_processes(weft)
    limit = lambda: resource.setrlimit(resource.RLIMIT_NPROC, (24, 24))
    with Run(weft, wide(100, ["sleep", "0.01"]), "-j", "100", prepare=limit, user=user) as run:
        assert run.to_end() == 0, run.errors[-300:]
        assert [warning["code"] for warning in run.of("run.warning")] == ["scarce-resources"]


# Records its beginning and its end; in between, other jobs have the time to be counted.
JOB = "echo + >>jobs; sleep 0.1; echo - >>jobs"
EIGHT_JOBS = f"""
all: $(addprefix job,1 2 3 4 5 6 7 8)
job%:
	@{JOB}
"""
SERIES = "; ".join([JOB] * 5)


# A shell script that takes three tokens from the jobserver that it is offered.
TAKE_THREE = ('auth=${MAKEFLAGS##*--jobserver-auth=}; '
              'case $auth in fifo:*) exec 3<>"${auth#fifo:}";; esac; '
              '/usr/bin/head -c 3 <&3 >/dev/null; ')


def slots_are_shared(weft):
    "With a jobserver, the jobs of a nested make and the steps are as many as -j says, and no more"
    make = {"run": ["make", "--silent"], "jobserver": True}
    workflow = {"parallel": [dict(make, id="a"), {"id": "b", "run": SERIES}, dict(make, id="c")]}
    for slots in (1, 2, 4):
        with Run(weft, workflow, "-j", str(slots), makefile=EIGHT_JOBS) as run:
            assert run.to_end() == 0, run.errors
            assert "warning" not in run.errors, run.errors
            assert run.most_jobs() == slots, (slots, run.most_jobs())


def a_group_bounds_what_is_lent(weft):
    "A group's concurrency limit bounds the nested jobs of its steps too"
    make = {"id": "a", "run": ["make", "--silent"], "jobserver": True}
    workflow = {"parallel": [{"id": "g", "maxParallel": 2, "parallel": [make, JOB]}]}
    with Run(weft, workflow, "-j", "6", makefile=EIGHT_JOBS) as run:
        assert run.to_end() == 0, run.errors
        assert run.most_jobs() == 2, run.most_jobs()


def without_jobserver_make_is_alone(weft):
    "A step without a jobserver has one slot: make runs one job at a time, and does not complain"
    workflow = {"steps": [{"id": "a", "run": ["make", "--silent"]}]}
    with Run(weft, workflow, "-j", "4", makefile=EIGHT_JOBS) as run:
        assert run.to_end() == 0, run.errors
        assert run.most_jobs() == 1, run.most_jobs()
        assert "jobserver" not in run.errors, run.errors


def tokens_of_the_killed_come_back(weft):
    "Tokens that the tools of a step had taken when it was killed are available to others"
    thief = TAKE_THREE + "echo taken; exec sleep 1000"
    # Each ends when all four run, which they do only with all slots.
    meeting = "echo + >>jobs; while [ $(grep -c + jobs) -lt 4 ]; do sleep 0.01; done; echo - >>jobs"
    workflow = {"steps": [
        {"id": "thief", "run": thief, "jobserver": True, "timeout": "1s",
         "stop": {"grace": "0s"}, "allowFailure": ["timeout"]},
        {"id": "rest", "parallel": [{"run": meeting, "timeout": "10s"}] * 4},
    ]}
    with Run(weft, workflow, "-j", "4") as run:
        assert run.to_end() == 0, run.errors
        assert run.written("thief") == ["taken"], run.written("thief")
        assert run.most_jobs() == 4, run.most_jobs()


def fifo_without_make(weft):
    "If no make says that it is too old, the jobserver is a FIFO, which is removed with the step"
    script = "case $MAKEFLAGS in *auth=fifo:*) ;; *) exit 9;; esac; " + TAKE_THREE + "echo $auth"
    workflow = {"steps": [{"id": "a", "jobserver": True, "run": ["/bin/sh", "-c", script],
                           "env": {"PATH": "/nonexistent"}}]}
    with Run(weft, workflow, "-j", "4") as run:
        assert run.to_end() == 0, run.errors
        [text] = run.written("a")
        assert not os.path.exists(text.removeprefix("fifo:")), text


def under_make(weft, slots, rule, *prelude):
    return ["make", "--silent", f"-j{slots}", f"WEFT={weft}", *prelude, rule]


OUTER = f"""
both: weft jobs
weft:
	+@$(WEFT) run --events - workflow.json
plain:
	@$(WEFT) run --events - workflow.json
counted:
	+@$(WEFT) run -j 2 --events - workflow.json
jobs:
	@{SERIES}
"""
TEN = {"parallel": [{"id": f"s{index}", "run": JOB + "; echo \"[$MAKEFLAGS]\""}
                    for index in range(10)]}


def slots_come_from_make(weft):
    "Under a make with a jobserver, its -j counts what weft and make run together"
    for slots in (2, 3, 5):
        command = under_make(weft, slots, "both")
        with Run(weft, TEN, command=command, makefile=OUTER) as run:
            assert run.to_end() == 0, run.errors
            assert run.most_jobs() == slots, (slots, run.most_jobs())
            assert run.of("run.warning") == [] and "jobserver" not in run.errors, run.errors
            assert not any("job" in text for text in run.written("s3")), run.written("s3")


def makes_slots_are_passed_on(weft):
    "A step with a jobserver takes part in the one that weft has joined"
    workflow = {"parallel": TEN["parallel"][:3] + [
        {"id": "make", "run": ["make", "--silent", "-f", "inner.mk"], "jobserver": True}]}
    command = under_make(weft, 4, "both")
    with Run(weft, workflow, command=command, makefile=OUTER) as run:
        (run.path / "inner.mk").write_text(EIGHT_JOBS)
        assert run.to_end() == 0, run.errors
        assert run.most_jobs() == 4, run.most_jobs()


def without_plus(weft):
    "Without + in make's rule there is one warning, which says so"
    version = subprocess.run(["make", "--version"], capture_output=True, text=True, check=True)
    if tuple(map(int, re.match(r"GNU Make (\d+)\.(\d+)", version.stdout).groups())) >= (4, 4):
        raise Skipped("make 4.4 and later use a FIFO, which needs no +")
    with Run(weft, TEN, command=under_make(weft, 3, "plain"), makefile=OUTER) as run:
        assert run.to_end() == 0, run.errors
        [warning] = run.of("run.warning")
        assert warning["code"] == "jobserver" and '"+"' in warning["help"], warning


def explicit_count_wins(weft):
    "With -j of its own weft takes no slots from make"
    with Run(weft, TEN, command=under_make(weft, 4, "counted"), makefile=OUTER) as run:
        assert run.to_end() == 0, run.errors
        assert run.of("run.started")[0]["maxParallel"] == 2
        assert run.most_jobs() == 2, run.most_jobs()


def interrupted_tokens_go_back(weft):
    "Slots taken from make are given back when the run fails, is cancelled, killed, or suspended"
    hold = "echo x >began; exec sleep 1000"
    workflow = {"parallel": [{"id": "a", "run": hold}, {"id": "b", "run": "exec sleep 1000"},
                             {"id": "c", "run": "trap '' TERM; exec sleep 1000", "stop": {"grace": "1s"}},
    ]}
    for presses in (1, 2, 3):
        theirs, ours = os.pipe()
        os.write(ours, b"abc")
        for end in (theirs, ours):
            os.set_inheritable(end, True)
        os.environ["MAKEFLAGS"] = f" -j4 --jobserver-auth={theirs},{ours}"
        try:
            run = Run(weft, workflow, "--timeout", "20s")
        finally:
            del os.environ["MAKEFLAGS"]
        with run:
            while len(run.of("step.started")) < 3:
                run.next("step.started")
            run.hear("began")
            taken = 3 - waiting(theirs)
            assert taken == 2, taken
            run.process.send_signal(signal.SIGINT)
            run.next("run.cancelling")
            for _ in range(presses - 1):
                time.sleep(pace.REPETITION)
                run.process.send_signal(signal.SIGINT)
            assert run.to_end() == 130, run.errors
            assert sorted(os.read(theirs, 10)) == sorted(b"abc")
        os.close(theirs)
        os.close(ours)


def waiting(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4), sys.byteorder)


TESTS = [few_descriptors, soft_limit_is_raised, high_numbers, no_descriptors,
         cancelled_without_descriptors, no_processes, cancelled_without_processes, few_processes,
         slots_are_shared, a_group_bounds_what_is_lent, without_jobserver_make_is_alone,
         tokens_of_the_killed_come_back, fifo_without_make, slots_come_from_make,
         makes_slots_are_passed_on,
         without_plus, explicit_count_wins, interrupted_tokens_go_back]
LONG_TESTS = [gives_up]


def ring(*_):
    raise AssertionError(f"waited longer than {LIMIT} s")


if __name__ == "__main__":
    signal.signal(signal.SIGALRM, ring)
    for name in ("MAKEFLAGS", "MAKELEVEL", "CI", "GITHUB_ACTIONS"):
        os.environ.pop(name, None)
    sys.exit(cases.run(__doc__, TESTS + (LONG_TESTS if os.environ.get("WEFT_LONG") else [])))
