"""A directory with a workflow, in which a script calls weft, and its records."""

import collections
import json
import pathlib
import subprocess
import tempfile
import time

LIMIT = 60  # seconds, against hanging only


class Place:
    """A directory with a workflow, in which weft runs."""

    def __init__(self, weft, workflow):
        self.weft = weft
        self.limit = LIMIT
        self.directory = tempfile.TemporaryDirectory(prefix="weft-resume-")
        self.path = pathlib.Path(self.directory.name)
        self.write(workflow)

    def write(self, workflow):
        (self.path / "w.json").write_text(json.dumps(workflow))

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

    def until(self, condition):
        end = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < end, "it does not come to that"
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


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF
