"""A terminal with a weft on it, as the whole screen that a person would see."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import tempfile
import termios
import time

import pyte

from lib import pace

LIMIT = 30  # seconds, against hanging only


class Screen:
    """A terminal with a weft on it."""

    def __init__(self, weft, workflow, columns=60, rows=16, arguments=(),
                 command=("run", "workflow.json"), beside=None, **environment):
        """beside: a different terminal, in whose directory this one starts; it has no workflow then."""
        self.directory = beside.directory if beside else self.made(workflow)
        self.path = self.directory.name
        self.screen = pyte.HistoryScreen(columns, rows, history=1000, ratio=1)
        self.stream = pyte.ByteStream(self.screen)
        self.bytes = b""
        self.terminal, theirs = pty.openpty()
        self.resize(columns, rows)

        def child():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        kept = {name: value for name, value in os.environ.items()
                if name not in ("CI", "GITHUB_ACTIONS", "NO_COLOR", "COLUMNS", "LINES")}
        kept.update({"TERM": "xterm", "LC_ALL": "C.UTF-8"}, **environment)
        self.process = subprocess.Popen(
            [weft, *command, *arguments], cwd=self.path, env=kept,
            stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=child)
        os.close(theirs)

    @staticmethod
    def made(workflow):
        directory = tempfile.TemporaryDirectory(prefix="weft-screens-")
        with open(f"{directory.name}/workflow.json", "w") as file:
            json.dump(workflow, file)
        for name in set(re.findall(r"\w+\.fifo", json.dumps(workflow))):
            os.mkfifo(f"{directory.name}/{name}")
        return directory

    def resize(self, columns, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    def press(self, key):
        pace.keep()
        os.write(self.terminal, key)

    def release(self, fifo):
        """Lets the step continue that reads the FIFO."""
        signal.signal(signal.SIGALRM, self.ring)
        signal.alarm(LIMIT)
        with open(f"{self.path}/{fifo}", "w") as file:
            file.write("go\n")
        signal.alarm(0)

    def ring(self, *_):
        raise AssertionError("waited too long for a step to read its FIFO:\n" + self.text())

    def wait_for(self, *texts):
        """Reads until all of these are on the screen."""
        self.wait_until(lambda: all(text in self.text() for text in texts), " and ".join(texts))

    def wait_until(self, holds, what):
        deadline = time.monotonic() + LIMIT
        while not holds():
            if not self.take(deadline):
                raise AssertionError(f"never came: {what}\n{self.text()}")

    def take(self, deadline):
        ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            part = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.bytes += part
        self.stream.feed(part)
        return bool(part)

    def status(self):
        deadline = time.monotonic() + LIMIT
        while self.take(deadline):
            pass
        code = self.process.wait(timeout=max(1, deadline - time.monotonic()))
        return code if code >= 0 else 128 - code

    def text(self):
        """The text that has scrolled away, and the whole screen, in a frame."""
        above = ["".join(line[column].data for column in range(self.screen.columns))
                 for line in self.screen.history.top]
        rows = above + self.screen.display
        rows = [normalised(row).rstrip() for row in rows]
        while rows and not rows[-1]:
            rows.pop()
        return "\n".join(rows) + "\n"

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.terminal)
        self.directory.cleanup()


def normalised(row):
    row = re.sub(r"\b\d{8}-\d{6}-[0-9a-f]{6}\b", "RUN", row)
    row = re.sub(r"\b\d+:\d\d(:\d\d)?\b", "CLOCK", row)
    return re.sub(r"\b\d+(\.\d+)? (ms|s)\b", "TIME", row)
