"""A weft that runs as leader of a session, on a terminal of its own or without one."""

import fcntl
import os
import pty
import select
import subprocess
import termios
import time

from lib import pace
from lib.workplace import LIMIT, Workplace


class Run(Workplace):
    """A running weft, as leader of a session."""

    def __init__(self, weft, workflow, arguments=(), terminal=True, prepare=None, descriptors=(),
                 others=None, **variables):
        super().__init__(workflow, others)
        self.terminal, theirs = pty.openpty() if terminal else os.pipe()
        self.before = termios.tcgetattr(self.terminal) if terminal else None

        def child():
            os.setsid()
            if terminal:
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            if prepare:
                prepare()

        environment = dict(os.environ, TERM="xterm", LANG="C.UTF-8", **variables)
        for name in ("CI", "GITHUB_ACTIONS", "NO_COLOR"):
            environment.pop(name, None)
        streams = (theirs,) * 3 if terminal else (subprocess.DEVNULL, theirs, theirs)
        self.process = subprocess.Popen(
            [weft, "run", "workflow.json", *arguments], cwd=self.path, env=environment,
            stdin=streams[0], stdout=streams[1], stderr=streams[2], preexec_fn=child,
            pass_fds=descriptors)
        os.close(theirs)

    def press(self, key):
        pace.keep()
        os.write(self.terminal, key)

    def read_until(self, text):
        """Reads output until `text` has arrived."""
        deadline = time.monotonic() + LIMIT
        while text.encode() not in self.output:
            if not self.take(deadline):
                raise AssertionError(f"no {text!r} in {self.output!r}")

    def take(self, deadline):
        ready, _, _ = select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))
        if not ready:
            return False
        try:
            part = os.read(self.terminal, 65536)
        except OSError:  # the terminal of a session that has ended
            return False
        self.output += part
        return bool(part)

    def status(self):
        """The exit code as a shell reports it, after everything was read."""
        deadline = time.monotonic() + LIMIT
        while self.take(deadline):
            pass
        code = self.process.wait(timeout=max(1, deadline - time.monotonic()))
        return code if code >= 0 else 128 - code

    def terminal_is_as_before(self):
        return termios.tcgetattr(self.terminal) == self.before

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.terminal)
        self.directory.cleanup()
