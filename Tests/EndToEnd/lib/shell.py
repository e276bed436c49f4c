"""An interactive bash on a terminal, for the scripts that run weft as people do."""

import os
import re
import select
import termios
import time

import pexpect
import pyte

from lib import pace
from lib.workplace import LIMIT, Workplace

PROMPT = "prompt> "


class Shell(Workplace):
    """A bash at work in a terminal; its output and that of its programs is on a screen."""

    def __init__(self, weft, workflow, **environment):
        super().__init__(workflow)
        kept = {name: value for name, value in os.environ.items()
                if name not in ("CI", "GITHUB_ACTIONS", "NO_COLOR", "COLUMNS", "LINES")}
        kept.update(PS1=PROMPT, TERM="xterm", LC_ALL="C.UTF-8", HISTFILE="/dev/null",
                    PATH=os.path.dirname(weft) + ":" + os.environ["PATH"])
        kept.update(environment)
        # Without line editing bash leaves the terminal's modes alone, so that they can be compared.
        self.bash = pexpect.spawn(
            "bash", ["--norc", "--noprofile", "--noediting", "-i"], cwd=self.path, env=kept,
            dimensions=(24, 80), timeout=LIMIT)
        self.prompts = 0
        self.screen = pyte.Screen(80, 24)
        self.stream = pyte.ByteStream(self.screen)
        self.wait_for_prompt()
        self.modes = termios.tcgetattr(self.bash.child_fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The end of the shell hangs up its programs.
        self.bash.close(force=True)
        self.directory.cleanup()

    # Actions of a person

    def run(self, command):
        """Types a command. What the screen then shows came after it."""
        self.screen.reset()
        self.bash.sendline(command)

    def press(self, keys):
        pace.keep()
        self.bash.send(keys)

    # Output seen by a person

    def take(self, deadline):
        """Reads available output; false if none came until the deadline, or none will."""
        try:
            part = self.bash.read_nonblocking(65536, max(0, deadline - time.monotonic()))
        except pexpect.TIMEOUT:
            return False
        except pexpect.EOF:
            # pexpect ends with the process, whose last output may still be on its way to the terminal.
            part = self.rest()
            if not part:
                return False
        self.output += part
        self.stream.feed(part)
        return True

    def rest(self):
        if not select.select([self.bash.child_fd], [], [], 1)[0]:
            return b""
        try:
            return os.read(self.bash.child_fd, 65536)
        except OSError:
            return b""

    def read_until(self, holds, what):
        deadline = time.monotonic() + LIMIT
        while not holds():
            if not self.take(deadline):
                raise AssertionError(f"never came: {what}\n{self.text()}")

    def wait_for_screen(self, text):
        self.read_until(lambda: text in self.text(), text)

    def wait_for_prompt(self):
        """Reads until bash has shown its prompt again."""
        self.prompts += 1
        self.read_until(lambda: self.output.count(PROMPT.encode()) >= self.prompts, "a prompt")

    def wait_for_end(self):
        while self.take(time.monotonic() + LIMIT):
            pass

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip("\n")

    def status(self):
        """The exit code of the last command, whose output stays on the screen."""
        self.bash.sendline("echo code=$?.")
        self.wait_for_prompt()
        return int(re.findall(rb"code=(\d+)\.", self.output)[-1])

    # Processes behind the screen

    def weft_process(self):
        """The process id of weft, the shell's only child."""
        with open(f"/proc/{self.bash.pid}/task/{self.bash.pid}/children") as file:
            return int(file.read())

    def foreground(self):
        return os.tcgetpgrp(self.bash.child_fd)

    def terminal_is_as_before(self):
        return termios.tcgetattr(self.bash.child_fd) == self.modes
