"""A directory with a workflow, in which a script calls weft, and its records."""

import collections
import json
import os
import pathlib
import subprocess
import tempfile
import time

LIMIT = 60  # seconds, against hanging only


class Place:
    """A directory with a workflow, in which weft runs."""

    limit = LIMIT

    def __init__(self, weft, workflow):
        self.weft = weft
        self.directory = tempfile.TemporaryDirectory(prefix="weft-resume-")
        self.path = pathlib.Path(self.directory.name).resolve()
        self.write(workflow)

    def write(self, workflow, name="w.json"):
        (self.path / name).write_text(json.dumps(workflow))

    def run(self, *arguments):
        return self.call("run", "w.json", *arguments)

    def resume(self, *arguments):
        return self.call("resume", *arguments)

    def call(self, *arguments):
        return subprocess.run(
            [self.weft, *arguments], cwd=self.path, stdin=subprocess.DEVNULL, text=True,
            capture_output=True, timeout=self.limit)

    def start(self, *arguments):
        return subprocess.Popen(
            [self.weft, *arguments], cwd=self.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def until(self, condition, otherwise="it does not come to that"):
        end = time.monotonic() + self.limit
        while not condition():
            assert time.monotonic() < end, otherwise
            time.sleep(0.005)

    def done(self):
        """The number of runs of each step."""
        log = self.path / "done"
        return collections.Counter(log.read_text().split() if log.exists() else [])

    @property
    def folder(self):
        (folder,) = (self.path / ".weft/runs").iterdir()
        return folder

    @property
    def journal(self):
        return self.folder / "journal.jsonl"

    def records(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]


class Remote(Place):
    """A place whose programs run elsewhere. Calls must end with the exit code that a case expects."""

    environment = None  # that of this process

    def call(self, *arguments, expect=0, errors=None, **variables):
        done = subprocess.run(
            [self.weft, *arguments], cwd=self.path, stdin=subprocess.DEVNULL, text=True, errors=errors,
            capture_output=True, timeout=self.limit, env={**(self.environment or os.environ), **variables})
        assert expect is None or done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def start(self, *arguments):
        return subprocess.Popen(
            [self.weft, *arguments], cwd=self.path, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self.environment)

    def events(self, expect=0):
        lines = self.call("run", "w.json", "--events", "-", "-q", expect=expect).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def failures(self):
        return {event["step"]: event["failure"] for event in self.events(expect=1)
                if event["type"] == "step.finished" and "failure" in event}

    def log(self, step):
        return self.call("logs", step).stdout

    def wait_for(self, name):
        self.until((self.path / name).exists, f"{name} was never made")


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF
