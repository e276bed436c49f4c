"""Shared parts of the scripts that run weft and look at its effects on processes.

No test waits by the clock for an event: steps report that they run by opening a FIFO, and a lock that every process
of a run inherits proves that none of them is alive.
"""

import fcntl
import json
import os
import re
import signal
import tempfile
import time

LIMIT = 30  # seconds, against hanging only


class Workplace:
    """A directory with a workflow, the FIFOs that it names, and the file `lock` that its steps hold."""

    output = b""

    def __init__(self, workflow, others=None):
        """`others` are workflows that this one runs, by the names of their files."""
        self.directory = tempfile.TemporaryDirectory(prefix="weft-test-")
        self.path = self.directory.name
        workflows = {"workflow.json": workflow, **(others or {})}
        for name, contents in workflows.items():
            with open(f"{self.path}/{name}", "w") as file:
                json.dump(contents, file)
        for name in set(re.findall(r"\w+\.fifo", json.dumps(workflows))):
            os.mkfifo(f"{self.path}/{name}")
        open(f"{self.path}/lock", "w").close()

    def take(self, deadline):
        """Adds available output to `output`; false if none came until the deadline, or none will."""
        raise NotImplementedError

    def wait_for(self, fifo):
        """Returns when a step has begun to write into the FIFO, with what it wrote."""
        with self.guard(f"a step that writes into {fifo}"), open(f"{self.path}/{fifo}") as file:
            return file.read()

    def release(self, fifo):
        """Lets the step continue that reads the FIFO."""
        with self.guard(f"the step that reads {fifo}"), open(f"{self.path}/{fifo}", "w") as file:
            file.write("go\n")

    def file(self, name):
        with open(f"{self.path}/{name}") as file:
            return file.read()

    def events(self):
        """The events written by `--events events`."""
        return [json.loads(line) for line in self.file("events").splitlines()]

    def nothing_is_alive(self):
        """Whether no process holds a shared lock on the file `lock` any more."""
        with open(f"{self.path}/lock") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False

    def guard(self, what):
        return Alarm(self, what)


class Alarm:
    """Ends a wait that would never end."""

    def __init__(self, place, what):
        self.place, self.what = place, what

    def __enter__(self):
        signal.signal(signal.SIGALRM, self.ring)
        signal.alarm(LIMIT)

    def __exit__(self, *_):
        signal.alarm(0)

    def ring(self, *_):
        self.place.take(time.monotonic())
        raise AssertionError(f"waited too long for {self.what}; said so far: {self.place.output!r}")


def step(script, **keys):
    """A step that holds the lock, like everything that it starts."""
    return dict(keys, run="exec 9<lock; flock -s 9; " + script)


def state(process):
    """The kernel's letter for a process: T for stopped, S for waiting, Z for dead; `None` if there is none."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return None


def wait_until(holds, what):
    deadline = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.01)
